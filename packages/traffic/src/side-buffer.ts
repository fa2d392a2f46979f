/** What one side of a connection has said and nobody has taken yet. */
import type { Intake } from "./protocols/stream-parser.ts";
import { FIRST_CREDIT } from "./work-account.ts";

/** One side. A plain record, as there are very many. */
export interface SideBuffer extends Intake {
  /** Bytes to come that nobody wants: the rest of a body. */
  skip: number;
  pending: Uint8Array | null;
  /** How much of `pending` is used. */
  length: number;
  /** Times that it was tried in vain to recognize the protocol. */
  attempts: number;
}

/** @returns An empty one. */
export function createSideBuffer(side: 0 | 1): SideBuffer {
  return { side, needed: 1, scanned: 0, isOver: false, skip: 0, pending: null, length: 0, attempts: 0, credit: FIRST_CREDIT };
}

const MIN_CAPACITY = 512;

/** Puts a copy behind what is pending. @returns By how many bytes the buffer has grown. */
export function appendPending(buffer: SideBuffer, bytes: Uint8Array): number {
  const { pending, length } = buffer;
  const needed = length + bytes.length;
  if (pending !== null && needed <= pending.length) {
    pending.set(bytes, length);
    buffer.length = needed;
    return 0;
  }
  // Doubled, so that a message that comes byte by byte is copied twice at most.
  const capacity = Math.max(MIN_CAPACITY, needed, pending === null ? 0 : pending.length * 2);
  const grown = new Uint8Array(capacity);
  if (pending !== null) grown.set(pending.subarray(0, length));
  grown.set(bytes, length);
  buffer.pending = grown;
  buffer.length = needed;
  return capacity - (pending === null ? 0 : pending.length);
}

/** Takes `count` bytes away from the front; an empty buffer is given back. @returns By how many bytes the buffer has shrunk. */
export function dropPending(buffer: SideBuffer, count: number): number {
  const { pending, length } = buffer;
  if (pending === null) return 0;
  if (count < length) {
    if (count > 0) pending.copyWithin(0, count, length);
    buffer.length = length - count;
    return 0;
  }
  buffer.pending = null;
  buffer.length = 0;
  return pending.length;
}
