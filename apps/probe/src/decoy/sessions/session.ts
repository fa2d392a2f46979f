/** One connection to a service of a decoy: bounded in bytes and time, and of no harm to any other. */
import type { Clock } from "@lanthorn/runtime";
import type { Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";
import { peekClientHello } from "../evidence/client-fingerprints.ts";
import { MAX_UNREAD_BYTES, type Peer, type Service, type Stage } from "../services/service.ts";
import { type IsBait, reportTo, type Witness } from "./reports.ts";

/** What a session stands on. */
export interface SessionDeps {
  readonly service: Service;
  readonly stage: Stage;
  /** Null for a service that has no certificate. */
  readonly tls: SecureContext | null;
  readonly address: string;
  readonly witness: Witness;
  readonly onEnd: () => void;
  /** A service threw. */
  readonly onFailure: (error: unknown) => void;
  readonly isBait: IsBait;
  readonly randomBytes: (octets: number) => Buffer;
  readonly clock: Pick<Clock, "after" | "monotonic" | "now">;
}

/** Nobody needs more to give a password. */
const MAX_INPUT_BYTES = 128 * 1024;
/** Who was let in with bait sends files, too. */
const MAX_ADMITTED_BYTES = 4 * 1024 * 1024;
/** What is said to one segment goes out together, or in such pieces. */
const MAX_CORKED_BYTES = 16 * 1024;
const MAX_SESSION_MS = 3_600_000;
/** Beyond it the tasks of a session are a client that asks faster than it is answered. */
const MAX_TASKS = 16;

/**
 * Serves it until either side ends it.
 * @param socket Connected; closed with the session.
 */
export function openSession(socket: Socket, deps: SessionDeps): void {
  const tasks = new Set<() => void>();
  const endTasks: (() => void)[] = [];
  let [octets, mostOctets, isOpen] = [0, MAX_INPUT_BYTES, true];
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    for (const cancel of tasks) cancel();
    socket.destroy();
    for (const task of endTasks) guard(task);
    deps.onEnd();
  };
  const guard = (task: () => unknown) => {
    try {
      task();
    } catch (error) {
      deps.onFailure(error);
      end();
    }
  };
  const after = (ms: number, task: () => void) => {
    const cancel = deps.clock.after(ms, () => {
      tasks.delete(cancel);
      guard(task);
    });
    tasks.add(cancel);
  };
  let stream = socket;
  let read: (bytes: Buffer) => void = () => undefined;
  const listen = () => {
    stream.on("error", end);
    stream.on("close", end);
    stream.on("data", (bytes: Buffer) => {
      if (!isOpen) return;
      if (octets === 0) deps.witness.onStep("banner", "", "");
      octets += bytes.length;
      if (octets > mostOctets) return end();
      const turn = stream;
      turn.cork();
      guard(() => read(bytes));
      turn.uncork();
    });
  };
  const startTls = () => {
    if (!deps.tls) throw new Error("the service has no certificate");
    const { tls } = deps;
    stream.removeAllListeners("data");
    peekClientHello(socket, (ja4) => peer.isProgram("ja4", ja4), () => {
      if (!isOpen) return;
      stream = new TLSSocket(socket, { isServer: true, secureContext: tls });
      stream.once("secure", () => deps.witness.onStep("banner", "", ""));
      listen();
    });
  };
  const peer = createPeer(() => stream, deps, { end, startTls, onAdmitted: () => void (mostOctets = MAX_ADMITTED_BYTES), onEnd: (task) => void endTasks.push(task), later: (ms, task) => (tasks.size < MAX_TASKS ? after(ms, task) : end()) });
  after(MAX_SESSION_MS, end);
  listen();
  guard(() => (read = deps.service(peer, deps.stage)));
}

function createPeer(now: () => Socket, deps: SessionDeps, { end, onAdmitted, ...means }: { readonly end: () => void; readonly onAdmitted: () => void } & Pick<Peer, "later" | "onEnd" | "startTls">): Peer {
  const reports = reportTo(deps.witness, deps.isBait);
  const toBuffer = (data: string | Uint8Array) => (typeof data === "string" ? Buffer.from(data, "utf8") : data);
  return {
    address: deps.address,
    stream: now(),
    ...means,
    send(data) {
      const socket = now();
      if (!socket.writable || data.length === 0) return;
      if (socket.writableLength > MAX_UNREAD_BYTES) return end();
      socket.write(toBuffer(data));
      if (socket.writableCorked === 0 || socket.writableLength < MAX_CORKED_BYTES) return;
      socket.uncork();
      socket.cork();
    },
    end(data = "") {
      const socket = now();
      if (socket.writable) socket.end(toBuffer(data));
      // What it still sends is of no use; the session ends when it has read.
      socket.removeAllListeners("data").resume();
    },
    ...reports,
    tried(...given) {
      const isBait = reports.tried(...given);
      if (isBait) onAdmitted();
      return isBait;
    },
    random: deps.randomBytes,
    now: () => new Date(deps.clock.now()),
    monotonic: deps.clock.monotonic,
  };
}
