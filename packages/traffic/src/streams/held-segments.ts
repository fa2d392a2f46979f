/** Segments that came before their turn: sorted, without overlap, each a copy. */
import { sequenceDistance } from "./sequence.ts";

/** One stretch of bytes that waits. */
export interface HeldSegment {
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** What one segment costs beside its bytes: the object, the view and its place in the list, as V8 lays them out. */
export const HELD_OVERHEAD_BYTES = 192;

/** Of one direction; more are a flood of tiny segments. */
export const MAX_HELD_SEGMENTS = 512;

/**
 * Puts those bytes of a segment into the list that are not there yet: what came first stays.
 * @param held Changed in place.
 * @returns Bytes that the list costs more than before.
 */
export function holdSegment(held: HeldSegment[], sequence: number, payload: Uint8Array): number {
  let cost = 0;
  let from = sequence;
  let rest = payload;
  let index = firstBehind(held, sequence);
  while (rest.length > 0) {
    const next = held[index];
    const room = next ? sequenceDistance(next.sequence, from) : rest.length;
    if (room > 0) {
      const bytes = rest.slice(0, room);
      held.splice(index, 0, { sequence: from, bytes });
      cost += bytes.length + HELD_OVERHEAD_BYTES;
      index += 1;
      rest = rest.subarray(bytes.length);
      from = (from + bytes.length) >>> 0;
      if (rest.length === 0 || !next) break;
    }
    if (!next) break;
    const covered = sequenceDistance((next.sequence + next.bytes.length) >>> 0, from);
    rest = rest.subarray(Math.min(covered, rest.length));
    from = (from + covered) >>> 0;
    index += 1;
  }
  return cost;
}

/** @returns Index of the first segment that ends behind `sequence`. */
function firstBehind(held: readonly HeldSegment[], sequence: number): number {
  let low = 0;
  let high = held.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const one = held[middle] as HeldSegment;
    if (sequenceDistance((one.sequence + one.bytes.length) >>> 0, sequence) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** @returns Whether a segment says other bytes than one that is held where they overlap. */
export function conflictsWithHeld(held: readonly HeldSegment[], sequence: number, payload: Uint8Array): boolean {
  for (let index = firstBehind(held, sequence); index < held.length; index += 1) {
    const { sequence: heldSequence, bytes } = held[index] as HeldSegment;
    if (sequenceDistance(heldSequence, sequence) >= payload.length) return false;
    if (overlapDiffers(heldSequence, bytes, sequence, payload)) return true;
  }
  return false;
}

/** @returns Whether two stretches of a stream have different bytes at a place that both have. */
export function overlapDiffers(aSequence: number, a: Uint8Array, bSequence: number, b: Uint8Array): boolean {
  const shift = sequenceDistance(bSequence, aSequence);
  const start = Math.max(0, shift);
  const end = Math.min(a.length, shift + b.length);
  for (let at = start; at < end; at += 1) if (a[at] !== b[at - shift]) return true;
  return false;
}
