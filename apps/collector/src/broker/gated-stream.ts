import { Duplex } from "node:stream";
import type { Clock } from "@lanthorn/runtime";
import { createGate, type GateFault, type GateOutput, type TakenPublish, type Verdict } from "./gate.ts";

/** A gated connection as the broker reads it, and the means to pause it and to answer beside the broker. */
export interface GatedStream {
  /** What the gate forwards, and the broker's answers to it. */
  readonly stream: Duplex;
  /**
   * Reads no more than one chunk (64 KiB) further from the socket until the returned function is called. What has been read already
   * still comes out. Small answers that are written meanwhile leave together when the hold ends; what does not fit leaves at once,
   * with them before it.
   */
  hold(): () => void;
  /** Writes a whole packet to the peer. While the peer does not read what it is sent, nothing is read from it either. */
  send(packet: Buffer): void;
}

/** A PUBACK and an acknowledgement are some 200 bytes. */
const MAX_ANSWER_BYTES = 1024;
/** How long a probe may leave its acknowledgements unread. */
export const DRAIN_TIMEOUT_MS = 20_000;

/** What a connection's gate goes by, and who gets what it takes and refuses. */
export interface GateStreamOptions<Target, Refusal> {
  readonly judge: (topic: string | null, payloadBytes: number, qos: number) => Verdict<Target, Refusal>;
  readonly deadTopic: string;
  readonly onTaken: (target: Target, publish: TakenPublish) => void;
  readonly onRefusal: (refusal: Refusal) => void;
  readonly onFault: (fault: GateFault) => void;
  readonly clock: Pick<Clock, "after">;
}

/**
 * A connection whose incoming bytes go through a gate before anyone reads them; outgoing bytes go straight. It reads from the
 * socket only as fast as it is read from, and destroying either destroys both.
 */
export function gateStream<Target, Refusal>(socket: Duplex, options: GateStreamOptions<Target, Refusal>): GatedStream {
  let holds = 0;
  let hasRoom = true;
  const answers = createAnswers(socket, { isHeld: () => holds > 0, onFull: () => waitForDrain() });
  const hold = () => {
    holds += 1;
    return () => {
      holds -= 1;
      if (holds > 0) return;
      answers.leave();
      if (socket.isPaused() && !stream.readableEnded) socket.resume();
    };
  };
  const stream = new Duplex({
    read() {
      if (holds === 0) socket.resume();
    },
    write: (chunk: Buffer, _encoding, done) => answers.write(chunk, done),
    writev: (chunks: { chunk: Buffer }[], done) => answers.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done),
    final(done) {
      answers.leave();
      socket.end(done);
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  const waitForDrain = holdUntilDrained(socket, { hold, clock: options.clock, onTimeout: () => stream.destroy() });
  const output: GateOutput<Target, Refusal> = {
    forward(bytes) {
      hasRoom = stream.push(bytes);
    },
    take: options.onTaken,
    refuse: options.onRefusal,
  };
  const gate = createGate({ judge: options.judge, deadTopic: options.deadTopic, output });
  socket.pause();
  socket.on("data", (chunk: Buffer) => {
    // Most probes send nothing while they are held: pausing each for each batch cost more than reading what comes after all.
    const wasHeld = holds > 0;
    hasRoom = true;
    const fault = gate.push(chunk);
    if (!hasRoom || (wasHeld && holds > 0)) socket.pause();
    if (fault === null) return;
    options.onFault(fault);
    stream.destroy();
  });
  socket.on("end", () => stream.push(null));
  socket.on("error", (error) => stream.destroy(error));
  socket.on("close", () => stream.destroy());
  return {
    stream, hold,
    send(packet) {
      if (socket.writable) answers.write(packet);
    },
  };
}

/**
 * What is written to a socket: small answers wait while `isHeld`, and leave in one write, which is one record of TLS.
 * @param options.onFull Is called when the peer does not read them.
 */
function createAnswers(socket: Duplex, { isHeld, onFull }: { readonly isHeld: () => boolean; readonly onFull: () => void }) {
  let waiting: Buffer[] = [];
  let bytes = 0;
  const leaveWith = (last: Buffer | null, done?: () => void) => {
    const all = last === null ? waiting : [...waiting, last];
    waiting = [];
    bytes = 0;
    // Who waits for `done` waits until the socket has taken it.
    if (!socket.write(all.length === 1 ? (all[0] as Buffer) : Buffer.concat(all), done) && done === undefined) onFull();
  };
  return {
    write(chunk: Buffer, done?: () => void): void {
      if (!isHeld() || bytes + chunk.length > MAX_ANSWER_BYTES) return leaveWith(chunk, done);
      waiting.push(chunk);
      bytes += chunk.length;
      return done?.();
    },
    leave(): void {
      if (waiting.length > 0 && socket.writable) leaveWith(null);
    },
  };
}

/** @returns What holds the connection until its peer has read what it was sent, and ends it when that takes too long. */
function holdUntilDrained(socket: Duplex, { hold, clock, onTimeout }: {
  readonly hold: () => () => void; readonly clock: Pick<Clock, "after">; readonly onTimeout: () => void;
}): () => void {
  let isDraining = false;
  return () => {
    if (isDraining || socket.destroyed) return;
    isDraining = true;
    const letGo = hold();
    const cancel = clock.after(DRAIN_TIMEOUT_MS, onTimeout);
    socket.once("close", cancel);
    socket.once("drain", () => {
      socket.off("close", cancel);
      cancel();
      isDraining = false;
      letGo();
    });
  };
}
