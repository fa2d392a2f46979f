/**
 * Questions by TCP and TLS: one connection for all, answered in any order, closed when nobody asks.
 * @see RFC 7766, RFC 7858
 */
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Clock } from "@lanthorn/runtime";
import { compareQuestion, encodeQuestion, type Question, questionEndOf } from "../messages/question.ts";
import { createMessageSplitter, withLength } from "../messages/stream-messages.ts";
import type { Exchange, ExchangeProblem, Exchanged, FillRandom, ServerAddress } from "./exchange.ts";

/** A name makes it TLS: the server's certificate must be for it. */
export interface StreamServer extends ServerAddress {
  readonly name: string | null;
  /** Certificates of authorities beside the system's, PEM. */
  readonly authorities?: string;
}

interface Waiting {
  readonly sent: Uint8Array;
  readonly questionEnd: number;
  readonly end: (result: Exchanged) => void;
}

interface Connection {
  readonly socket: Socket;
  readonly waiting: Map<number, Waiting>;
}

/** RFC 7766 section 6.2.3: some seconds. Most servers close after ten. */
const IDLE_MS = 8000;
const MAX_WAITING = 1024;

/** Exchange over one connection, which is opened when it is needed. */
export function createStreamExchange(deps: StreamServer & { readonly clock: Pick<Clock, "after">; readonly fillRandom: FillRandom }): Exchange {
  let current: Connection | null = null;
  let isClosed = false;

  const drop = (connection: Connection, problem: ExchangeProblem) => {
    if (current === connection) current = null;
    for (const one of connection.waiting.values()) one.end(problem);
    connection.socket.destroy();
  };
  const open = (): Connection => {
    const { address: host, port, name, authorities } = deps;
    const socket = name === null
      ? connectTcp({ host, port, noDelay: true })
      : connectTls({ host, port, servername: name, ALPNProtocols: ["dot"], minVersion: "TLSv1.2", ...(authorities !== undefined && { ca: authorities }) });
    const connection: Connection = { socket, waiting: new Map() };
    const split = createMessageSplitter((message) => take(connection, message));
    socket.on("data", split);
    socket.on("error", () => drop(connection, "unreachable"));
    socket.on("close", () => drop(connection, "unreachable"));
    socket.setTimeout(IDLE_MS, () => connection.waiting.size === 0 && drop(connection, "unreachable"));
    current = connection;
    return connection;
  };
  const take = (connection: Connection, message: Uint8Array) => {
    const waiting = message.length < 12 ? undefined : connection.waiting.get(((message[0] as number) << 8) | (message[1] as number));
    // Over a connection nobody else speaks: what does not fit is the server's fault, and what else it says is not to be believed.
    if (!waiting || compareQuestion(waiting.sent, message, waiting.questionEnd) === "other") return drop(connection, "broken");
    waiting.end(message);
  };
  return {
    ask: (question: Question, timeoutMs) =>
      new Promise((resolve) => {
        if (isClosed) return resolve("unreachable");
        const connection = current ?? open();
        if (connection.waiting.size >= MAX_WAITING) return resolve("unreachable");
        const id = freeId(connection.waiting, deps.fillRandom);
        const sent = encodeQuestion(question, { id, caseBits: NO_CASE, cookie: null });
        const cancel = deps.clock.after(timeoutMs, () => end("timeout"));
        const end = (result: Exchanged) => {
          cancel();
          connection.waiting.delete(id);
          resolve(result);
        };
        connection.waiting.set(id, { sent, questionEnd: questionEndOf(question.name), end });
        connection.socket.write(withLength(sent));
      }),
    close() {
      isClosed = true;
      if (current) drop(current, "unreachable");
    },
  };
}

const NO_CASE = new Uint8Array(0);

function freeId(waiting: ReadonlyMap<number, unknown>, fillRandom: FillRandom): number {
  const bytes = new Uint8Array(2);
  for (;;) {
    fillRandom(bytes);
    const id = ((bytes[0] as number) << 8) | (bytes[1] as number);
    if (!waiting.has(id)) return id;
  }
}
