import type { ApplicationOutput } from "./application.ts";

const NOTHING = new Uint8Array(0);
const MIN_BYTES = 64;

/**
 * Takes what a message has at the front of what waits.
 * @param bytes All that is there, as a view.
 * @returns How many bytes it took: 0 for more bytes first, more than are there for the rest to be passed over as it comes, and -1 to give the side
 * up. It must find out in constant time that a message is not whole.
 */
export type TakeMessage = (bytes: Uint8Array) => number;

/** Bytes of one side of a TCP connection that wait for the rest of their message. A class, as there are two for most connections. */
export class WaitingBytes {
  /** It was closed: nothing more is read. */
  isOver = false;
  readonly #output: Pick<ApplicationOutput, "hold">;
  readonly #maxBytes: number;
  #waiting = NOTHING;
  #length = 0;
  #skip = 0;

  /** @param maxBytes A message that is longer is given up, and its side with it. */
  constructor(output: Pick<ApplicationOutput, "hold">, maxBytes: number) {
    this.#output = output;
    this.#maxBytes = maxBytes;
  }

  /** Puts `bytes` behind those that wait, and has messages taken from the front. */
  read(bytes: Uint8Array, take: TakeMessage): void {
    if (this.isOver) return;
    const passed = Math.min(this.#skip, bytes.length);
    this.#skip -= passed;
    const fresh = bytes.subarray(passed);
    if (fresh.length === 0) return;
    if (this.#length > 0) this.#keep(fresh);
    const isKept = this.#length > 0;
    const all = isKept ? this.#waiting.subarray(0, this.#length) : fresh;
    const at = this.#takeAll(all, take);
    if (this.isOver) return;
    if (at >= all.length) {
      this.#skip += at - all.length;
      this.#forget();
    } else if (all.length - at > this.#maxBytes) this.close();
    else if (!isKept) this.#keep(fresh.subarray(at));
    else if (at > 0) {
      this.#waiting.copyWithin(0, at, this.#length);
      this.#length -= at;
    }
  }

  /** Forgets what waits; nothing more is read. */
  close(): void {
    this.isOver = true;
    this.#forget();
  }

  #keep(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#waiting.length) {
      const grown = new Uint8Array(Math.max(length, Math.min(this.#waiting.length * 2, this.#maxBytes), MIN_BYTES));
      grown.set(this.#waiting.subarray(0, this.#length));
      this.#output.hold(grown.length - this.#waiting.length);
      this.#waiting = grown;
    }
    this.#waiting.set(bytes, this.#length);
    this.#length = length;
  }

  #forget(): void {
    if (this.#waiting.length > 0) this.#output.hold(-this.#waiting.length);
    this.#waiting = NOTHING;
    this.#length = 0;
  }

  /** @returns How many bytes were taken from the front. */
  #takeAll(all: Uint8Array, take: TakeMessage): number {
    let at = 0;
    while (at < all.length && !this.isOver) {
      const taken = take(all.subarray(at));
      if (taken < 0) this.close();
      if (taken <= 0) break;
      at += taken;
    }
    return at;
  }
}
