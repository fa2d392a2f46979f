/** The same bytes of TCP in other segments: what must not change an alert. Pure, and the same for the same lots. */
import { TCP_FLAG } from "@lanthorn/packets";
import type { CapturedFrame } from "./capture-frames.ts";

/**
 * `split`: each segment in several. `overlap`: segments that repeat some of the bytes before them. `reorder`: what `split` makes of a
 * segment, in another order. `late`: of each connection one side comes later than it was, as from a mirror of two ports.
 */
export type Mutation = "split" | "overlap" | "reorder" | "late";

/** All kinds. */
export const MUTATIONS: readonly Mutation[] = ["split", "overlap", "reorder", "late"];

const ETHERNET = 1;
const MOST_PIECES = 5;
/** How late a side is at most, in frames of its connection. */
const MOST_LATE = 6;
const HANDSHAKE_SEGMENTS = 3;

/** Lots: a whole number from 0 to below the limit. */
type Draw = (limit: number) => number;

/** A segment of TCP in a frame that can be cut. */
interface Segment {
  readonly ip: number;
  readonly tcp: number;
  readonly payload: number;
  /** Behind the packet; Ethernet's padding is behind it. */
  readonly end: number;
  readonly flags: number;
  /** Of the connection, the same for both sides. */
  readonly connection: string;
  /** Of the sender. */
  readonly sender: string;
}

/** @param draw Lots; the same lots, the same frames. @returns New frames; those that are no plain TCP on Ethernet are as they were. */
export function mutateFrames(frames: readonly CapturedFrame[], mutation: Mutation, draw: Draw): readonly CapturedFrame[] {
  switch (mutation) {
    case "split": return frames.flatMap((frame) => split(frame, draw));
    case "reorder": return frames.flatMap((frame) => shuffle(split(frame, draw), draw));
    case "overlap": return overlap(frames, draw);
    case "late": return delay(frames, draw);
    default: return mutation satisfies never;
  }
}

function readSegment({ bytes, linkType }: CapturedFrame): Segment | null {
  if (linkType !== ETHERNET || bytes.length < 54) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let ip = 14;
  let type = view.getUint16(12);
  while (type === 0x8100 || type === 0x88a8) {
    if (ip + 4 > bytes.length) return null;
    type = view.getUint16(ip + 2);
    ip += 4;
  }
  const isIpv4 = type === 0x0800;
  if ((!isIpv4 && type !== 0x86dd) || ip + 40 > bytes.length) return null;
  const tcp = ip + (isIpv4 ? ((bytes[ip] ?? 0) & 15) * 4 : 40);
  const end = ip + (isIpv4 ? view.getUint16(ip + 2) : 40 + view.getUint16(ip + 4));
  const isTcp = bytes[ip + (isIpv4 ? 9 : 6)] === 6;
  const isFragment = isIpv4 && (view.getUint16(ip + 6) & 0x3fff) !== 0;
  if (!isTcp || isFragment || tcp + 20 > end || end > bytes.length) return null;
  const payload = tcp + ((bytes[tcp + 12] ?? 0) >> 4) * 4;
  if (payload < tcp + 20 || payload > end) return null;
  const [source, destination] = isIpv4 ? [bytes.subarray(ip + 12, ip + 16), bytes.subarray(ip + 16, ip + 20)] : [bytes.subarray(ip + 8, ip + 24), bytes.subarray(ip + 24, ip + 40)];
  const sender = `${Buffer.from(source).toString("hex")}:${view.getUint16(tcp)}`;
  const receiver = `${Buffer.from(destination).toString("hex")}:${view.getUint16(tcp + 2)}`;
  return { ip, tcp, payload, end, flags: bytes[tcp + 13] ?? 0, connection: [sender, receiver].toSorted().join(" "), sender };
}

/** A frame with the bytes from `from` to `to` of the payload of another. */
function piece(frame: CapturedFrame, { ip, tcp, payload, end, flags }: Segment, from: number, to: number): CapturedFrame {
  const bytes = new Uint8Array(payload + to - from);
  bytes.set(frame.bytes.subarray(0, payload));
  bytes.set(frame.bytes.subarray(payload + from, payload + to), payload);
  const view = new DataView(bytes.buffer);
  const isIpv4 = ((bytes[ip] ?? 0) >> 4) === 4;
  view.setUint16(ip + (isIpv4 ? 2 : 4), bytes.length - ip - (isIpv4 ? 0 : 40));
  view.setUint32(tcp + 4, (view.getUint32(tcp + 4) + from) >>> 0);
  if (payload + to < end) bytes[tcp + 13] = flags & ~(TCP_FLAG.fin | TCP_FLAG.psh);
  return { ...frame, bytes };
}

function split(frame: CapturedFrame, draw: Draw): CapturedFrame[] {
  const segment = readSegment(frame);
  const length = segment ? segment.end - segment.payload : 0;
  if (!segment || length < 2 || (segment.flags & (TCP_FLAG.syn | TCP_FLAG.rst | TCP_FLAG.urg)) !== 0) return [frame];
  const cuts = Array.from({ length: 1 + draw(MOST_PIECES - 1) }, () => 1 + draw(length - 1));
  const edges = [...new Set([0, ...cuts, length])].toSorted((a, b) => a - b);
  return edges.slice(1).map((to, place) => piece(frame, segment, edges[place] ?? 0, to));
}

/** The pieces keep the times of their places. */
function shuffle(pieces: readonly CapturedFrame[], draw: Draw): CapturedFrame[] {
  const order = [...pieces];
  for (let place = order.length - 1; place > 0; place -= 1) {
    const other = draw(place + 1);
    const [a, b] = [order[place], order[other]];
    if (a && b) [order[place], order[other]] = [b, a];
  }
  return order;
}

/** Behind some pieces one comes that begins before their end, with the same bytes. */
function overlap(frames: readonly CapturedFrame[], draw: Draw): CapturedFrame[] {
  return frames.flatMap((frame) => {
    const segment = readSegment(frame);
    const length = segment ? segment.end - segment.payload : 0;
    if (!segment || length < 4 || (segment.flags & (TCP_FLAG.syn | TCP_FLAG.rst | TCP_FLAG.urg)) !== 0) return [frame];
    const middle = 1 + draw(length - 2);
    const back = draw(middle);
    const first = piece(frame, segment, 0, middle);
    return [first, ...(draw(2) === 0 ? [first] : []), piece(frame, segment, back, length)];
  });
}

/** Frames of one side move behind later ones of the other. Handshakes stay: without them who began would be another. */
function delay(frames: readonly CapturedFrame[], draw: Draw): CapturedFrame[] {
  const plans = new Map<string, { readonly firstSender: string; readonly isFirstLate: boolean; readonly by: number; seen: number }>();
  const placed = frames.map((frame, index) => {
    const segment = readSegment(frame);
    if (!segment) return { frame, order: index };
    const plan = plans.get(segment.connection) ?? { firstSender: segment.sender, isFirstLate: draw(2) === 0, by: 1 + draw(MOST_LATE), seen: 0 };
    plans.set(segment.connection, plan);
    plan.seen += 1;
    const isLate = plan.seen > HANDSHAKE_SEGMENTS && (segment.sender === plan.firstSender) === plan.isFirstLate;
    return { frame, order: isLate ? index + plan.by + 0.5 : index };
  });
  const ordered = placed.toSorted((a, b) => a.order - b.order).map(({ frame }) => frame);
  const times = ordered.map(({ at }) => at).toSorted((a, b) => a - b);
  return ordered.map((frame, place) => ({ ...frame, at: times[place] ?? frame.at }));
}
