/**
 * Questions by UDP, hard to answer for anybody but the server: a random port and id, letters in random case, and a cookie where the server
 * knows them. What does not fit all of it is not an answer, and the wait goes on.
 * @see RFC 5452, RFC 7873 section 5.3, draft-vixie-dnsext-dns0x20-00
 */
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { decodeDns, dnsEdns } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { compareQuestion, encodeQuestion, type Question, questionEndOf } from "../messages/question.ts";
import type { CookieJar } from "./cookie-jar.ts";
import type { Exchange, ExchangeProblem, FillRandom, ServerAddress } from "./exchange.ts";

/** As Exchanged; `truncated` and `other-case`: it is to be asked by TCP. */
export type UdpExchanged = Uint8Array | ExchangeProblem | "truncated" | "other-case";

/** Datagrams to and from one server. */
export interface UdpExchange extends Omit<Exchange, "ask"> {
  ask(question: Question, timeoutMs: number): Promise<UdpExchanged>;
}

interface Waiting {
  readonly sent: Uint8Array;
  readonly questionEnd: number;
  readonly end: (result: UdpExchanged) => void;
}

interface Port {
  readonly socket: Socket;
  readonly waiting: Map<number, Waiting>;
  /** Until the socket is connected; null from then on. */
  queue: (() => unknown)[] | null;
  asked: number;
}

/** Ports in use at a time. With the id and the letters of a name of ten, some 30 bits to guess. */
const MAX_PORTS = 16;
/** A port is given back after so many questions. */
const MOST_ASKED = 256;
/** Questions that wait on one port. */
const MAX_WAITING = 512;
const TRUNCATED = 0x02;
const CASE_BYTES = 32;
const BAD_COOKIE = 23;

/** What it needs. */
export interface UdpMeans {
  readonly clock: Pick<Clock, "after">;
  readonly fillRandom: FillRandom;
  /** The server's. */
  readonly cookies: CookieJar;
  /** The server does not give letters back as they were: they are all sent small. */
  readonly plainCase: () => boolean;
}

/** Exchange over as many ports as the questions need. */
export function createUdpExchange(deps: ServerAddress & UdpMeans): UdpExchange {
  const ports = new Set<Port>();
  let isClosed = false;

  const retire = (port: Port, problem: ExchangeProblem) => {
    if (!ports.delete(port) && port.waiting.size === 0) return;
    for (const one of port.waiting.values()) one.end(problem);
    port.socket.close();
  };
  const openPort = (): Port => {
    const port: Port = { socket: createSocket(isIPv6(deps.address) ? "udp6" : "udp4"), waiting: new Map(), queue: [], asked: 0 };
    port.socket.on("error", () => retire(port, "unreachable"));
    port.socket.on("message", (received) => take(port, received));
    // The kernel takes datagrams of this server only, and says when its port is closed.
    port.socket.connect(deps.port, deps.address, () => {
      for (const send of port.queue ?? []) send();
      port.queue = null;
    });
    ports.add(port);
    return port;
  };
  const take = (port: Port, received: Uint8Array) => {
    const waiting = received.length < 12 ? undefined : port.waiting.get(((received[0] as number) << 8) | (received[1] as number));
    if (!waiting) return;
    const likeness = compareQuestion(waiting.sent, received, waiting.questionEnd);
    if (likeness === "other") return;
    const result = decodeDns(received);
    const edns = result.ok ? dnsEdns(result.value) : null;
    if (!deps.cookies.accepts(edns)) return;
    if (likeness === "other-case") return waiting.end("other-case");
    const isPart = ((received[2] as number) & TRUNCATED) !== 0 || edns?.responseCode === BAD_COOKIE;
    waiting.end(isPart ? "truncated" : received);
  };
  const portFor = (): Port | null => {
    const open = [...ports];
    const unused = open.filter((port) => port.asked < MOST_ASKED && port.waiting.size < MAX_WAITING);
    if (unused.length > 0 && (open.length >= MAX_PORTS || unused.length >= MAX_PORTS / 2)) return unused[randomBelow(deps.fillRandom, unused.length)] ?? null;
    if (open.length < MAX_PORTS) return openPort();
    const done = open.find((port) => port.waiting.size === 0);
    if (!done) return null;
    retire(done, "unreachable");
    return openPort();
  };
  return {
    ask: (question, timeoutMs) =>
      new Promise((resolve) => {
        const port = isClosed ? null : portFor();
        if (!port) return resolve("unreachable");
        const chosen = new Uint8Array(2 + CASE_BYTES);
        do deps.fillRandom(chosen);
        while (port.waiting.has(((chosen[0] as number) << 8) | (chosen[1] as number)));
        const id = ((chosen[0] as number) << 8) | (chosen[1] as number);
        const sent = encodeQuestion(question, { id, caseBits: chosen.subarray(deps.plainCase() ? chosen.length : 2), cookie: deps.cookies.own() });
        const cancel = deps.clock.after(timeoutMs, () => end("timeout"));
        const end = (result: UdpExchanged) => {
          cancel();
          port.waiting.delete(id);
          resolve(result);
        };
        port.waiting.set(id, { sent, questionEnd: questionEndOf(question.name), end });
        port.asked += 1;
        const send = () => port.waiting.has(id) && port.socket.send(sent, (error) => error && end("unreachable"));
        if (port.queue) port.queue.push(send);
        else send();
      }),
    close() {
      isClosed = true;
      for (const port of ports) retire(port, "unreachable");
    },
  };
}

function randomBelow(fillRandom: FillRandom, limit: number): number {
  const bytes = new Uint8Array(2);
  fillRandom(bytes);
  return (((bytes[0] as number) << 8) | (bytes[1] as number)) % limit;
}
