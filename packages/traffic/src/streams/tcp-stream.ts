/**
 * TCP reassembly, one direction of one connection: segments in, bytes in order out.
 *
 * Overlap: the byte that came first stays ("first", as Windows does; Linux and the BSDs do so for all but segments that begin before a held
 * one). It is the one policy that an observer can keep who hands bytes over as they come, without waiting for copies: what was handed
 * over cannot be taken back. Copies that say something else are counted, for they are a sign of an injection or an evasion.
 *
 * @see RFC 9293 section 3.10.7.4; Ptacek and Newsham, "Insertion, Evasion and Denial of Service", section 5.4
 */
import { TCP_FLAG } from "@lanthorn/packets";
import { conflictsWithHeld, HELD_OVERHEAD_BYTES, holdSegment, type HeldSegment, MAX_HELD_SEGMENTS, overlapDiffers } from "./held-segments.ts";
import { sequenceAfter, sequenceDistance } from "./sequence.ts";

/** What happened to segments, over all streams that share it. */
export interface StreamCounters {
  /** Segments that came before their turn and were held. */
  outOfOrder: number;
  /** Segments of which nothing was new. */
  retransmissions: number;
  /** Segments of which a part was there before. */
  overlaps: number;
  /** Segments that said other bytes than what was there before. */
  conflicts: number;
  gaps: number;
  gapBytes: number;
  /** Segments outside the window of acceptance. */
  outOfWindow: number;
}

/** @returns Counters, all 0. */
export function createStreamCounters(): StreamCounters {
  return { outOfOrder: 0, retransmissions: 0, overlaps: 0, conflicts: 0, gaps: 0, gapBytes: 0, outOfWindow: 0 };
}

/** Where a stream's bytes go. */
export interface StreamOutput {
  /** The next bytes. A view of the segment or of a held copy: good during the call. */
  onBytes(side: 0 | 1, bytes: Uint8Array, at: number): void;
  /** `octets` are missing for good; bytes go on behind them. */
  onGap(side: 0 | 1, octets: number, at: number): void;
  /** How many bytes held segments cost more (or less) than before. */
  onHeld(octets: number): void;
}

/** One direction. Made by `createTcpStream`, moved on by `acceptSegment`; a plain record, as there are very many. */
export interface TcpStream {
  readonly side: 0 | 1;
  /** False until its first sequence number is known. */
  isStarted: boolean;
  /** Started in the middle: no SYN was seen. */
  isMidstream: boolean;
  /** By FIN, all before it handed over, or by RST. */
  isEnded: boolean;
  /** Sequence number of the next byte to be handed over. */
  next: number;
  /** Sequence number behind the last byte, or -1. */
  finAt: number;
  /** The highest acknowledgment of the other side, or -1. */
  acknowledged: number;
  /** Segments in a row that were outside the window. */
  refused: number;
  held: HeldSegment[] | null;
  heldBytes: number;
  /** The beginning of the segment that was handed over last, to compare a copy of it. */
  recent: Uint8Array | null;
  recentLength: number;
  recentSequence: number;
}

/** What is shared by all streams. */
export interface StreamContext {
  readonly counters: StreamCounters;
  /** Of held segments, with their cost; above it the hole is given up. */
  readonly maxHeldBytes: number;
}

/** Ahead of what is next, in bytes: the largest window that the common systems use by default. Further is accepted when acknowledged. */
const MAX_AHEAD_BYTES = 16 * 1024 * 1024;

/** So many segments in a row outside the window are the stream, and what we took for it was not. */
const MAX_REFUSED = 4;

/** Kept of the last segment. An answer that was injected differs from the true one in its first bytes. */
const RECENT_BYTES = 64;
/** Of streams that were dropped: each stream has one for as long as it lasts, and they come and go. */
const unusedRecents: Uint8Array[] = [];
const MAX_UNUSED_RECENTS = 1024;

/** @returns A stream that waits for its first segment. */
export function createTcpStream(side: 0 | 1): TcpStream {
  return {
    side, isStarted: false, isMidstream: false, isEnded: false, next: 0, finAt: -1, acknowledged: -1, refused: 0, held: null, heldBytes: 0,
    recent: null, recentLength: 0, recentSequence: 0,
  };
}

/** A segment of this direction. */
export interface StreamSegment {
  readonly sequence: number;
  /** Bits of `TCP_FLAG`. */
  readonly flags: number;
  readonly payload: Uint8Array;
  readonly at: number;
}

/** Takes a segment; hands over what is in order now. Bytes that must wait are copied. */
export function acceptSegment(stream: TcpStream, output: StreamOutput, context: StreamContext, segment: StreamSegment): void {
  const { flags, payload, at } = segment;
  if (stream.isEnded) return;
  let { sequence } = segment;
  if ((flags & TCP_FLAG.syn) !== 0) {
    sequence = sequenceAfter(sequence, 1);
    if (!stream.isStarted) start(stream, sequence, false);
  }
  if ((flags & TCP_FLAG.rst) !== 0) {
    reset(stream, output, sequence);
    return;
  }
  if (!stream.isStarted) {
    if (payload.length === 0) return;
    start(stream, sequence, true);
  }
  if (payload.length > 0) {
    // The usual case: in order, and nothing waits.
    if (sequence === stream.next && stream.held === null) handOver(stream, output, payload, at);
    else place(stream, output, context, { sequence, flags, payload, at });
  }
  if ((flags & TCP_FLAG.fin) !== 0 && stream.finAt < 0) stream.finAt = sequenceAfter(sequence, payload.length);
  if (stream.finAt === stream.next) stream.isEnded = true;
}

/** The other side has acknowledged all before `acknowledgment`: a hole before it will not be filled any more. */
export function acceptAcknowledgment(
  stream: TcpStream, output: StreamOutput, context: StreamContext, acknowledgment: number, at: number,
): void {
  if (stream.acknowledged >= 0 && sequenceDistance(acknowledgment, stream.acknowledged) <= 0) return;
  stream.acknowledged = acknowledgment;
  if (stream.held !== null) skipAcknowledged(stream, output, context, at);
}

/** Gives up all holes: hands over what is held, with gaps between. */
export function flushStream(stream: TcpStream, output: StreamOutput, context: StreamContext, at: number): void {
  while (stream.held !== null) skipToHeld(stream, output, context, at);
}

/** Forgets what is held, and what was handed over last. */
export function dropHeld(stream: TcpStream, output: StreamOutput): void {
  const { heldBytes, recent } = stream;
  stream.held = null;
  stream.heldBytes = 0;
  stream.recent = null;
  stream.recentLength = 0;
  if (recent !== null && unusedRecents.length < MAX_UNUSED_RECENTS) unusedRecents.push(recent);
  if (heldBytes > 0) output.onHeld(-heldBytes);
}

function start(stream: TcpStream, sequence: number, isMidstream: boolean): void {
  stream.isStarted = true;
  stream.isMidstream = isMidstream;
  stream.next = sequence;
}

/** Only at the place where the stream stands, as RFC 5961 section 3.2 has it: one that was forged blindly must not end the inspection. */
function reset(stream: TcpStream, output: StreamOutput, sequence: number): void {
  const isNear = Math.abs(sequenceDistance(sequence, stream.next)) <= 0xffff;
  if (stream.isStarted && !isNear) return;
  stream.isEnded = true;
  dropHeld(stream, output);
}

function handOver(stream: TcpStream, output: StreamOutput, bytes: Uint8Array, at: number): void {
  const recent = (stream.recent ??= unusedRecents.pop() ?? new Uint8Array(RECENT_BYTES));
  const length = bytes.length < RECENT_BYTES ? bytes.length : RECENT_BYTES;
  for (let index = 0; index < length; index += 1) recent[index] = bytes[index] as number;
  stream.recentLength = length;
  stream.recentSequence = stream.next;
  stream.next = (stream.next + bytes.length) >>> 0;
  stream.refused = 0;
  output.onBytes(stream.side, bytes, at);
}

/** A segment that is early, late, or in time while others wait. */
function place(stream: TcpStream, output: StreamOutput, context: StreamContext, segment: StreamSegment): void {
  const { counters } = context;
  const { at } = segment;
  let { sequence, payload } = segment;
  let distance = sequenceDistance(sequence, stream.next);
  if (!isAcceptable(stream, output, context, distance, segment)) return;
  distance = sequenceDistance(sequence, stream.next);
  if (saysOtherwise(stream, sequence, payload)) counters.conflicts += 1;
  if (distance < 0) {
    if (-distance >= payload.length) {
      counters.retransmissions += 1;
      return;
    }
    counters.overlaps += 1;
    payload = payload.subarray(-distance);
    sequence = stream.next;
    distance = 0;
  }
  if (distance === 0 && stream.held === null) {
    handOver(stream, output, payload, at);
    return;
  }
  if (distance > 0) counters.outOfOrder += 1;
  hold(stream, output, sequence, payload);
  drain(stream, output, at);
  skipAcknowledged(stream, output, context, at);
  while (stream.held !== null && (stream.heldBytes > context.maxHeldBytes || stream.held.length > MAX_HELD_SEGMENTS)) {
    skipToHeld(stream, output, context, at);
  }
}

function saysOtherwise(stream: TcpStream, sequence: number, payload: Uint8Array): boolean {
  if (stream.held !== null && conflictsWithHeld(stream.held, sequence, payload)) return true;
  if (stream.recent === null || isKeepAlive(stream, sequence, payload)) return false;
  return overlapDiffers(stream.recentSequence, stream.recent.subarray(0, stream.recentLength), sequence, payload);
}

/** One byte of anything, before what is next. @see RFC 9293 section 3.8.4 */
function isKeepAlive(stream: TcpStream, sequence: number, payload: Uint8Array): boolean {
  return payload.length === 1 && sequenceAfter(sequence, 1) === stream.next;
}

/** Whether a segment lies in the window, or moves the stream to it where it must. */
function isAcceptable(
  stream: TcpStream, output: StreamOutput, context: StreamContext, distance: number, { sequence, payload, at }: StreamSegment,
): boolean {
  if (distance <= MAX_AHEAD_BYTES && distance >= -MAX_AHEAD_BYTES) return true;
  const isAcknowledged = stream.acknowledged >= 0 && sequenceDistance(sequenceAfter(sequence, payload.length), stream.acknowledged) <= 0
    && distance > 0;
  stream.refused += 1;
  context.counters.outOfWindow += 1;
  if (!isAcknowledged && stream.refused < MAX_REFUSED) return false;
  flushStream(stream, output, context, at);
  const missing = sequenceDistance(sequence, stream.next);
  moveTo(stream, output, context, sequence, missing > 0 ? missing : 0, at);
  return true;
}

function hold(stream: TcpStream, output: StreamOutput, sequence: number, payload: Uint8Array): void {
  const cost = holdSegment((stream.held ??= []), sequence, payload);
  stream.heldBytes += cost;
  if (cost > 0) output.onHeld(cost);
}

/** Hands over what has become in order. */
function drain(stream: TcpStream, output: StreamOutput, at: number): void {
  const { held } = stream;
  if (held === null) return;
  let count = 0;
  let freed = 0;
  while (stream.held === held && count < held.length) {
    const { sequence, bytes } = held[count] as HeldSegment;
    if (sequence !== stream.next) break;
    count += 1;
    freed += bytes.length + HELD_OVERHEAD_BYTES;
    handOver(stream, output, bytes, at);
  }
  // The output may have dropped all that is held.
  if (stream.held !== held || count === 0) return;
  held.splice(0, count);
  if (held.length === 0) stream.held = null;
  stream.heldBytes -= freed;
  output.onHeld(-freed);
}

function skipAcknowledged(stream: TcpStream, output: StreamOutput, context: StreamContext, at: number): void {
  while (stream.held !== null && stream.acknowledged >= 0) {
    const first = stream.held[0] as HeldSegment;
    if (sequenceDistance(stream.acknowledged, first.sequence) < 0) return;
    skipToHeld(stream, output, context, at);
  }
}

function skipToHeld(stream: TcpStream, output: StreamOutput, context: StreamContext, at: number): void {
  const first = stream.held?.[0];
  if (!first) return;
  moveTo(stream, output, context, first.sequence, sequenceDistance(first.sequence, stream.next), at);
  drain(stream, output, at);
}

function moveTo(stream: TcpStream, output: StreamOutput, context: StreamContext, sequence: number, missing: number, at: number): void {
  context.counters.gaps += 1;
  context.counters.gapBytes += missing;
  stream.next = sequence;
  stream.refused = 0;
  stream.recentLength = 0;
  output.onGap(stream.side, missing, at);
}
