/** Where one run of bytes is in a buffer. */

import { lowerCase } from "./window-choice.ts";

/** From so many bytes on, Node's own search is faster than a loop, which needs no call out of JavaScript. */
const MIN_NATIVE_BYTES = 128;

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => lowerCase(byte));

/** What is searched for. */
export interface Needle {
  /** In lower case where case is ignored. */
  readonly bytes: Uint8Array;
  /** ASCII letters of either case are the same. */
  readonly ignoreCase: boolean;
}

/**
 * @param from The first place where it may begin, and `to` where it must have ended; both inside the buffer.
 * @returns Where it first begins, or -1. Nothing is found everywhere.
 */
export function findBytes(buffer: Uint8Array, needle: Needle, from: number, to: number): number {
  const { bytes, ignoreCase } = needle;
  const last = to - bytes.length;
  if (from > last) return -1;
  if (bytes.length === 0) return from;
  if (ignoreCase) return findFolded(buffer, bytes, from, last);
  if (last - from >= MIN_NATIVE_BYTES) {
    const at: number = Buffer.prototype.indexOf.call(buffer, bytes, from);
    return at > last ? -1 : at;
  }
  for (let at = from; at <= last; at += 1) {
    let index = 0;
    while (index < bytes.length && buffer[at + index] === bytes[index]) index += 1;
    if (index === bytes.length) return at;
  }
  return -1;
}

function findFolded(buffer: Uint8Array, bytes: Uint8Array, from: number, last: number): number {
  const [first] = bytes;
  for (let at = from; at <= last; at += 1) {
    if (LOWER[buffer[at] as number] !== first) continue;
    let index = 1;
    while (index < bytes.length && LOWER[buffer[at + index] as number] === bytes[index]) index += 1;
    if (index === bytes.length) return at;
  }
  return -1;
}
