/** Conversations as both sides' bytes, played to an inspection as segments. For tests only. */
import { TCP_FLAG } from "@lanthorn/packets";
import type { InspectionLimits } from "../inspection-limits.ts";
import { createInspection, type InspectionCounters } from "../inspector.ts";
import type { TrafficMessage } from "../traffic-message.ts";

/** What one side says before the other answers. */
export interface Turn {
  readonly side: 0 | 1;
  readonly bytes: Uint8Array;
}

/** One segment, as the inspector takes it. */
export interface Segment {
  readonly side: 0 | 1;
  readonly sequence: number;
  readonly acknowledgment: number;
  readonly flags: number;
  readonly payload: Uint8Array;
}

export interface SegmentOptions {
  /** First sequence numbers of the sides. */
  readonly initial?: readonly [number, number];
  /** Bytes of a segment at most. */
  readonly size?: number;
  /** Without SYN and FIN. */
  readonly isMidstream?: boolean;
}

/** Text or bytes as a turn. */
export function turn(side: 0 | 1, bytes: Uint8Array | string): Turn {
  return { side, bytes: typeof bytes === "string" ? new Uint8Array(Buffer.from(bytes, "latin1")) : bytes };
}

/** @returns The segments in order, with handshake and end; acknowledgments say what the other side has sent before. */
export function segmentsOf(turns: readonly Turn[], options: SegmentOptions = {}): Segment[] {
  const { initial = [1000, 2000], size = 1448, isMidstream = false } = options;
  const next: [number, number] = [initial[0] >>> 0, initial[1] >>> 0];
  const segments: Segment[] = [];
  const say = (side: 0 | 1, flags: number, payload: Uint8Array) => {
    const acknowledgment = (flags & TCP_FLAG.ack) === 0 ? 0 : next[side === 0 ? 1 : 0];
    segments.push({ side, sequence: next[side], acknowledgment, flags, payload });
    const control = (flags & (TCP_FLAG.syn | TCP_FLAG.fin)) === 0 ? 0 : 1;
    next[side] = (next[side] + payload.length + control) >>> 0;
  };
  const nothing = new Uint8Array(0);
  if (!isMidstream) {
    say(0, TCP_FLAG.syn, nothing);
    say(1, TCP_FLAG.syn | TCP_FLAG.ack, nothing);
    say(0, TCP_FLAG.ack, nothing);
  }
  for (const { side, bytes } of turns) {
    for (let at = 0; at < bytes.length; at += size) say(side, TCP_FLAG.ack | TCP_FLAG.psh, bytes.subarray(at, at + size));
  }
  if (!isMidstream) {
    say(0, TCP_FLAG.ack | TCP_FLAG.fin, nothing);
    say(1, TCP_FLAG.ack | TCP_FLAG.fin, nothing);
    say(0, TCP_FLAG.ack, nothing);
  }
  return segments;
}

/** What came of a conversation. */
export interface Played {
  readonly messages: readonly TrafficMessage[];
  readonly service: string;
  readonly isDone: boolean;
  readonly counters: InspectionCounters;
  /** Bytes that were held at most. */
  readonly peakBytes: number;
}

/** Gives segments to an inspection; each payload's memory is overwritten after the call, as the capture's is. */
export function playSegments(segments: readonly Segment[], limits?: Partial<InspectionLimits>): Played {
  const messages: TrafficMessage[] = [];
  const inspection = createInspection<null>({ ...(limits ? { limits } : {}), onMessage: (_, message) => messages.push(structuredClone(message)) });
  const inspector = inspection.open(null);
  let peakBytes = 0;
  for (const [index, { side, sequence, acknowledgment, flags, payload }] of segments.entries()) {
    const memory = payload.slice();
    inspector.segment(side, sequence, acknowledgment, flags, memory, index);
    memory.fill(0xee);
    peakBytes = Math.max(peakBytes, inspection.counters().heldBytes);
  }
  const { service, isDone } = inspector;
  inspector.end();
  return { messages, service, isDone, counters: inspection.counters(), peakBytes };
}

/** Plays a conversation as it was. */
export function play(turns: readonly Turn[], options?: SegmentOptions, limits?: Partial<InspectionLimits>): Played {
  return playSegments(segmentsOf(turns, options), limits);
}

/** Messages without their times, which depend on how the bytes were cut. */
export function withoutTimes(messages: readonly TrafficMessage[]): readonly Record<string, unknown>[] {
  return messages.map((message) => ({ ...message, at: 0 }));
}
