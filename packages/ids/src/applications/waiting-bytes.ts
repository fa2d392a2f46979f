import type { ApplicationOutput } from "./application.ts";

/** Bytes of one side of a TCP connection that wait for the rest of their message. */
export interface WaitingBytes {
  /**
   * Puts `bytes` behind those that wait, and has messages taken from the front.
   * @param take Is given all that is there, as a view, and says how many bytes it took: 0 for more bytes first, more than are there for the
   * rest to be passed over as it comes, and -1 to give the side up. It must find out in constant time that a message is not whole.
   */
  read(bytes: Uint8Array, take: (bytes: Uint8Array) => number): void;
  /** Forgets what waits; nothing more is read. */
  close(): void;
  readonly isOver: boolean;
}

const NOTHING = new Uint8Array(0);

/** @param maxBytes A message that is longer is given up, and its side with it. */
export function createWaitingBytes(output: Pick<ApplicationOutput, "hold">, maxBytes: number): WaitingBytes {
  let waiting = NOTHING;
  let length = 0;
  let skip = 0;
  let isOver = false;

  function keep(bytes: Uint8Array): void {
    if (length + bytes.length > waiting.length) {
      const grown = new Uint8Array(Math.max(length + bytes.length, Math.min(waiting.length * 2, maxBytes), 64));
      grown.set(waiting.subarray(0, length));
      output.hold(grown.length - waiting.length);
      waiting = grown;
    }
    waiting.set(bytes, length);
    length += bytes.length;
  }

  function forget(): void {
    if (waiting.length > 0) output.hold(-waiting.length);
    waiting = NOTHING;
    length = 0;
  }

  function close(): void {
    isOver = true;
    forget();
  }

  /** @returns How many bytes were taken from the front. */
  function takeAll(all: Uint8Array, take: (bytes: Uint8Array) => number): number {
    let at = 0;
    while (at < all.length && !isOver) {
      const taken = take(all.subarray(at));
      if (taken < 0) close();
      if (taken <= 0) break;
      at += taken;
    }
    return at;
  }

  return {
    get isOver() {
      return isOver;
    },
    read(bytes, take) {
      if (isOver) return;
      const passed = Math.min(skip, bytes.length);
      skip -= passed;
      const fresh = bytes.subarray(passed);
      if (fresh.length === 0) return;
      if (length > 0) keep(fresh);
      const isKept = length > 0;
      const all = isKept ? waiting.subarray(0, length) : fresh;
      const at = takeAll(all, take);
      if (isOver) return;
      if (at >= all.length) {
        skip += at - all.length;
        forget();
      } else if (all.length - at > maxBytes) close();
      else if (!isKept) keep(fresh.subarray(at));
      else if (at > 0) {
        waiting.copyWithin(0, at, length);
        length -= at;
      }
    },
    close,
  };
}
