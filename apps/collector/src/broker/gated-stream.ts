import { Duplex } from "node:stream";
import type { Gate, GateFault } from "./gate.ts";

export interface GatedStream {
  readonly stream: Duplex;
  /**
   * Reads nothing more from the socket until the returned function is called. What has been read already (a socket's chunk
   * of 64 KiB) still comes out. aedes alone reads on with each `readable`, whatever it has not finished.
   */
  hold(): () => void;
}

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
  const stream = new Duplex({
    read() {
      if (holds === 0) socket.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      socket.write(chunk, done);
    },
    writev(chunks: { chunk: Buffer }[], done) {
      socket.write(chunks.length === 1 ? (chunks[0] as { chunk: Buffer }).chunk : Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
    },
    final(done) {
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
    if (!hasRoom) socket.pause();
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
      socket.pause();
      return () => {
        holds -= 1;
        if (holds === 0 && !stream.readableEnded) socket.resume();
      };
    },
  };
}
