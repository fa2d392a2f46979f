/**
 * Memory for bytes that are kept for a while, used again and again. V8 counts what lies outside of its heap as if it were on it, and frees it
 * only when it collects: bodies and streams that come and go had it search all rules several times a second.
 */

const SMALLEST_BYTES = 256;
const LARGEST_BYTES = 128 * 1024;
/** What is not in use; the rest is left to V8. */
const MAX_FREE_BYTES = 1024 * 1024;

/** Pieces that nobody has, by their length. */
const free = new Map<number, Uint8Array[]>();
let freeBytes = 0;

/** @returns So many bytes at least. What is in them is whatever was there before. */
export function takeBytes(octets: number): Uint8Array {
  const length = lengthOf(octets);
  const piece = free.get(length)?.pop();
  if (piece === undefined) return new Uint8Array(length);
  freeBytes -= length;
  return piece;
}

/** Gives back what `takeBytes` gave: nobody may look at it any more. */
export function giveBytes(piece: Uint8Array): void {
  const { length } = piece;
  if (length < SMALLEST_BYTES || length > LARGEST_BYTES || length !== lengthOf(length) || freeBytes + length > MAX_FREE_BYTES) return;
  const pieces = free.get(length);
  if (pieces === undefined) free.set(length, [piece]);
  else pieces.push(piece);
  freeBytes += length;
}

/** Four lengths from one power of two to the next. */
function lengthOf(octets: number): number {
  if (octets <= SMALLEST_BYTES) return SMALLEST_BYTES;
  if (octets > LARGEST_BYTES) return octets;
  const step = 2 ** (29 - Math.clz32(octets - 1));
  return Math.ceil(octets / step) * step;
}
