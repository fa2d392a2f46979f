import { Duplex } from "node:stream";
import type { Gate, GateFault } from "./gate.ts";

/** A gated connection as the broker reads it, and the means to pause it. */
export interface GatedStream {
  readonly stream: Duplex;
  /**
   * Reads no more than one chunk (64 KiB) further from the socket until the returned function is called. What has been read already
   * still comes out. aedes alone reads on with each `readable`, whatever it has not finished. Small answers that are
   * written meanwhile leave together when the hold ends; what does not fit leaves at once, with them before it.
   */
  hold(): () => void;
}

/** A PUBACK and an acknowledgement are some 200 bytes. */
const MAX_ANSWER_BYTES = 1024;

/**
 * A connection whose incoming bytes go through a gate before anyone reads them; outgoing bytes go straight. It reads from the
 * socket only as fast as it is read from, and destroying either destroys both.
 */
export function gateStream<Refusal>(socket: Duplex, options: {
  readonly gate: Gate<Refusal>;
  readonly onRefusal: (refusal: Refusal) => void;
  readonly onFault: (fault: GateFault) => void;
}): GatedStream {
  let holds = 0;
  /** Answers that wait for the one that ends the hold: one record of TLS carries both. */
  let answers: Buffer[] = [];
  let answerBytes = 0;
  const takeAnswers = (last?: Buffer): Buffer => {
    const all = last === undefined ? answers : [...answers, last];
    answers = [];
    answerBytes = 0;
    return all.length === 1 ? (all[0] as Buffer) : Buffer.concat(all);
  };
  const write = (chunk: Buffer, done: () => void) => {
    if (holds === 0 || answerBytes + chunk.length > MAX_ANSWER_BYTES) return void socket.write(takeAnswers(chunk), done);
    answers.push(chunk);
    answerBytes += chunk.length;
    return done();
  };
  const stream = new Duplex({
    read() {
      if (holds === 0) socket.resume();
    },
    write: (chunk: Buffer, _encoding, done) => write(chunk, done),
    writev: (chunks: { chunk: Buffer }[], done) => write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done),
    final(done) {
      if (answers.length > 0) socket.write(takeAnswers());
      socket.end(done);
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.pause();
  socket.on("data", (chunk: Buffer) => {
    const { forward, refusals, fault } = options.gate.push(chunk);
    refusals.forEach(options.onRefusal);
    let hasRoom = true;
    for (const bytes of forward) hasRoom = stream.push(bytes);
    // Most probes send nothing while they are held: pausing each for each batch cost more than reading what comes after all.
    if (!hasRoom || holds > 0) socket.pause();
    if (fault === null) return;
    options.onFault(fault);
    stream.destroy();
  });
  socket.on("end", () => stream.push(null));
  socket.on("error", (error) => stream.destroy(error));
  socket.on("close", () => stream.destroy());
  return {
    stream,
    hold() {
      holds += 1;
      return () => {
        holds -= 1;
        if (holds > 0) return;
        if (answers.length > 0 && socket.writable) socket.write(takeAnswers());
        if (socket.isPaused() && !stream.readableEnded) socket.resume();
      };
    },
  };
}
