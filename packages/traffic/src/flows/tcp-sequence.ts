import { TCP_FLAG } from "@lanthorn/packets";
import { type FlowSide, NO_HOLES, TCP_STATE } from "./flow-side.ts";

/** TCP's bytes by sequence numbers, which count what a capture has missed too; nothing of them is kept. */

/** No window is larger, so a segment farther ahead is not of this connection. @see RFC 7323 section 2.3 */
const MAX_AHEAD = 0x4000_0000;
/** A stretch of loss rarely leaves more than one or two open; the oldest counts as missed when one more opens. */
const MAX_HOLES = 8;

/** What a segment was to its stream. */
export const SEGMENT = { nothing: 0, data: 1, retransmission: 2 } as const;

/**
 * Counts a segment of `side`.
 * @param sequence Signed, 32 bits.
 * @param length Of the payload, as on the wire.
 * @returns One of `SEGMENT`.
 */
export function trackSegment(side: FlowSide, sequence: number, length: number, flags: number): number {
  let start = sequence;
  if ((flags & TCP_FLAG.syn) !== 0) {
    start = (sequence + 1) | 0;
    if (!side.isSequenceKnown || side.state <= TCP_STATE.synAckSent) {
      startAt(side, start);
      side.hasSyn = true;
    }
  } else if (!side.isSequenceKnown) startAt(side, start);
  // What comes with a reset is no part of the stream.
  if ((flags & TCP_FLAG.rst) !== 0) return SEGMENT.nothing;
  const isFin = (flags & TCP_FLAG.fin) !== 0;
  if (length === 0 && !isFin) return SEGMENT.nothing;
  if (isFin) side.hasFin = true;
  const end = (start + length) | 0;
  const ahead = (end - side.next) | 0;
  if (ahead > 0) {
    if (ahead > MAX_AHEAD) return SEGMENT.nothing;
    if (((start - side.next) | 0) > 0) addHole(side, side.next, start);
    side.next = end;
    side.payloadBytes += ahead;
    return length > 0 ? SEGMENT.data : SEGMENT.nothing;
  }
  if (length === 0) return SEGMENT.nothing;
  return side.holeCount > 0 && fillHoles(side, start, end) ? SEGMENT.data : SEGMENT.retransmission;
}

/**
 * Counts what the other end has acknowledged of the bytes of `side`: what never came was missed.
 * @returns Whether a gap is certain now that was not before.
 */
export function trackAcknowledgment(side: FlowSide, acknowledgment: number): boolean {
  if (!side.isSequenceKnown) {
    startAt(side, acknowledgment);
    return false;
  }
  let isGap = false;
  const ahead = (acknowledgment - side.next) | 0;
  // One alone may be the sequence number of a FIN.
  if (ahead > 1 && ahead <= MAX_AHEAD) {
    const missed = side.hasFin ? ahead - 1 : ahead;
    side.missedBytes += missed;
    side.payloadBytes += missed;
    side.next = (side.next + missed) | 0;
    isGap = true;
  }
  return side.holeCount > 0 && closeHoles(side, acknowledgment) ? true : isGap;
}

/** What has not come and may never come: it counts as missed where no acknowledgments are seen that would tell. */
export function openHoleBytes({ holes, holeCount }: FlowSide): number {
  let sum = 0;
  for (let at = 0; at < holeCount * 2; at += 2) sum += ((holes[at + 1] as number) - (holes[at] as number)) | 0;
  return sum;
}

function startAt(side: FlowSide, first: number): void {
  side.isSequenceKnown = true;
  side.initial = first;
  side.next = first;
  side.holeCount = 0;
}

function addHole(side: FlowSide, start: number, end: number): void {
  if (side.holes === NO_HOLES) side.holes = new Int32Array(MAX_HOLES * 2);
  if (side.holeCount === MAX_HOLES) {
    side.missedBytes += ((side.holes[1] as number) - (side.holes[0] as number)) | 0;
    removeHole(side, 0);
  }
  side.holes[side.holeCount * 2] = start;
  side.holes[side.holeCount * 2 + 1] = end;
  side.holeCount += 1;
}

function removeHole(side: FlowSide, index: number): void {
  side.holes.copyWithin(index * 2, index * 2 + 2, side.holeCount * 2);
  side.holeCount -= 1;
}

/** @returns Whether any of the bytes was missing. */
function fillHoles(side: FlowSide, start: number, end: number): boolean {
  const { holes } = side;
  let isNew = false;
  for (let index = side.holeCount - 1; index >= 0; index -= 1) {
    const [from, to] = [holes[index * 2] as number, holes[index * 2 + 1] as number];
    if (((start - to) | 0) >= 0 || ((end - from) | 0) <= 0) continue;
    isNew = true;
    const [keepsFront, keepsBack] = [((start - from) | 0) > 0, ((to - end) | 0) > 0];
    if (!keepsFront && !keepsBack) removeHole(side, index);
    else if (keepsFront && !keepsBack) holes[index * 2 + 1] = start;
    else {
      holes[index * 2] = end;
      if (keepsFront) addHole(side, from, start);
    }
  }
  return isNew;
}

/** @returns Whether there was a hole before `acknowledgment`. */
function closeHoles(side: FlowSide, acknowledgment: number): boolean {
  const { holes } = side;
  let isGap = false;
  for (let index = side.holeCount - 1; index >= 0; index -= 1) {
    const [from, to] = [holes[index * 2] as number, holes[index * 2 + 1] as number];
    if (((acknowledgment - to) | 0) < 0) continue;
    side.missedBytes += (to - from) | 0;
    removeHole(side, index);
    isGap = true;
  }
  return isGap;
}
