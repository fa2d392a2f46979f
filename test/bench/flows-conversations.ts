/** tshark's table of conversations, and ours beside it. */
import type { FlowRecord } from "@lanthorn/traffic";

/** What both ends of a conversation have sent, the lower end (as text) first. Bytes lie from `low` to `high`: tshark rounds large numbers down. */
export interface Conversation {
  readonly frames: readonly [number, number];
  readonly low: readonly [number, number];
  readonly high: readonly [number, number];
}

/** Conversations by protocol and ends. */
export type Conversations = ReadonlyMap<string, Conversation>;

const UNITS: Readonly<Record<string, number>> = { bytes: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };
/** `ADDRESS:PORT <-> ADDRESS:PORT`, then frames and bytes backward, and frames and bytes forward. */
const ROW = /^(\S+):(\d+)\s+<->\s+(\S+):(\d+)\s+([\d,]+)\s+([\d,]+)\s+(\w+)\s+([\d,]+)\s+([\d,]+)\s+(\w+)\s/;

/** @param text What `tshark -q -z conv,tcp -z conv,udp` prints. */
export function readConversations(text: string): Conversations {
  const found = new Map<string, Conversation>();
  let protocol = "";
  for (const line of text.split("\n")) {
    if (/^(?:TCP|UDP) Conversations/.test(line)) protocol = line.slice(0, 3).toLowerCase();
    const row = ROW.exec(line);
    if (!row) continue;
    const [, ip = "", port = "", otherIp = "", otherPort = "", backFrames = "", backBytes = "", backUnit = "", frames = "", bytes = "", unit = ""] = row;
    const forward = { frames: numberOf(frames), bytes: numberOf(bytes), unit: UNITS[unit] ?? 1 };
    const backward = { frames: numberOf(backFrames), bytes: numberOf(backBytes), unit: UNITS[backUnit] ?? 1 };
    add(found, protocol, [`${ip}:${port}`, `${otherIp}:${otherPort}`], [forward, backward]);
  }
  return found;
}

/** The same of flow records; fragments but the last of a datagram are left out, as tshark counts a datagram with its last one. */
export function conversationsOf(records: Iterable<FlowRecord>): Conversations {
  const found = new Map<string, Conversation>();
  for (const flow of records) {
    if (flow.protocol !== "tcp" && flow.protocol !== "udp") continue;
    add(found, flow.protocol, [`${flow.originator_ip}:${flow.originator_port}`, `${flow.responder_ip}:${flow.responder_port}`], [
      { frames: flow.originator_packets, bytes: flow.originator_wire_bytes - flow.originator_fragment_bytes, unit: 1 },
      { frames: flow.responder_packets, bytes: flow.responder_wire_bytes - flow.responder_fragment_bytes, unit: 1 },
    ]);
  }
  return found;
}

/** How many conversations are the same in both, and which are not. */
export function compareConversations(ours: Conversations, theirs: Conversations): { readonly agree: number; readonly different: readonly string[] } {
  const different = [...new Set([...ours.keys(), ...theirs.keys()])].filter((key) => {
    const [a, b] = [ours.get(key), theirs.get(key)];
    return !a || !b || !([0, 1] as const).every((side) => a.frames[side] === b.frames[side] && a.low[side] >= b.low[side] && a.low[side] <= b.high[side]);
  });
  return { agree: new Set([...ours.keys(), ...theirs.keys()]).size - different.length, different };
}

interface Sent {
  readonly frames: number;
  readonly bytes: number;
  readonly unit: number;
}

function add(found: Map<string, Conversation>, protocol: string, ends: readonly [string, string], sent: readonly [Sent, Sent]): void {
  const isSwapped = ends[0] > ends[1];
  const [low, high] = isSwapped ? [ends[1], ends[0]] : ends;
  const [first, second] = isSwapped ? [sent[1], sent[0]] : sent;
  const key = `${protocol} ${low} ${high}`;
  const before = found.get(key) ?? { frames: [0, 0], low: [0, 0], high: [0, 0] };
  const most = ({ bytes, unit }: Sent) => (bytes + 1) * unit - 1;
  found.set(key, {
    frames: [before.frames[0] + first.frames, before.frames[1] + second.frames],
    low: [before.low[0] + first.bytes * first.unit, before.low[1] + second.bytes * second.unit],
    high: [before.high[0] + most(first), before.high[1] + most(second)],
  });
}

function numberOf(text: string): number {
  return Number(text.replaceAll(",", ""));
}
