import type { PcapSummary } from "@lanthorn/contract/uplink";
import { formatIpv4, formatIpv6, formatMac } from "@lanthorn/packets";
import { FAMILY_IPV4, FAMILY_IPV6, FAMILY_MAC, type FlowKey, KEY_WORDS, type FlowKeyReader } from "./flow-keys.ts";
import { createFlowTally, type TallyEntry } from "./flow-tally.ts";
import type { FrameView } from "@lanthorn/packet-io";
import { protocolCode, protocolName, transportName } from "./protocol-names.ts";
import { createTimeLine } from "./time-line.ts";

/** What is in a capture, made frame by frame in memory that never grows. */
export interface SummaryMaker {
  /** @param key The frame's, as the reader has it now. @param isFirst What `FlowKeyReader.read` said. */
  add(frame: FrameView, key: FlowKeyReader["key"], isFirst: boolean): void;
  read(): PcapSummary;
  /** Flows as far as they are kept: all of them where `isWhole` gives true. */
  readonly flows: { forEach(visit: (key: FlowKey) => void): void; readonly isWhole: boolean };
}

/** What the contract allows of each list. */
const MAX_ROWS = 32;
const MAX_PROTOCOLS = 32;
const FLOW_PLACES = 2048;
const TALKER_PLACES = 1024;
/** Beyond these a protocol counts as `other`: a number for each EtherType is up to a hostile host. */
const MAX_PROTOCOL_CODES = 256;
const OTHER = -1;

interface Amount {
  packets: number;
  bytes: number;
}

/** @returns A maker that takes 350 KiB. */
export function createSummaryMaker(): SummaryMaker {
  const talkers = createFlowTally({ places: TALKER_PLACES });
  const protocols = new Map<number, Amount>();
  const end = new Uint32Array(KEY_WORDS);
  const timeLine = createTimeLine();

  /** What a flow had is its ends' and its protocol's: added when it gives way, or at the end. */
  const settle = (into: { readonly talkers: typeof talkers; readonly protocols: typeof protocols }, entry: TallyEntry) => {
    for (const at of [0, 4]) {
      for (let index = 0; index < 4; index += 1) end[index] = entry.key[at + index] as number;
      end[9] = (entry.key[9] as number) & 0xf_0000;
      into.talkers.addMany(end, entry);
    }
    const code = protocolCode(entry.key);
    const known = into.protocols.has(code) || into.protocols.size < MAX_PROTOCOL_CODES ? code : OTHER;
    const amount = into.protocols.get(known);
    if (amount === undefined) {
      into.protocols.set(known, { packets: entry.frames, bytes: entry.octets });
    } else {
      amount.packets += entry.frames;
      amount.bytes += entry.octets;
    }
  };
  const flows = createFlowTally({ places: FLOW_PLACES, onEvicted: (entry) => settle({ talkers, protocols }, entry) });

  return {
    add(frame, key, isFirst) {
      flows.add(key, frame.wireLength, isFirst, frame.seconds * 1e6 + Math.floor(frame.nanoseconds / 1000));
      timeLine.add(frame.seconds * 1000 + Math.floor(frame.nanoseconds / 1e6));
    },
    read() {
      // On copies: what is still in the table of flows counts on.
      const ends = createFlowTally({ places: TALKER_PLACES });
      talkers.forEach((entry) => ends.addMany(entry.key, entry));
      const codes = new Map([...protocols].map(([code, amount]) => [code, { ...amount }]));
      const kept = createLargest<TallyEntry>(MAX_ROWS, (entry) => entry.octets);
      let total = flows.evicted;
      flows.forEach((entry) => {
        settle({ talkers: ends, protocols: codes }, entry);
        kept.add({ ...entry, key: entry.key.slice() });
        total += 1;
      });
      const largest = createLargest<TallyEntry>(MAX_ROWS, (entry) => entry.octets);
      ends.forEach((entry) => void (entry.key[9] === 0 || largest.add({ ...entry, key: entry.key.slice() })));
      const byPackets = createLargest<readonly [string, Amount]>(MAX_PROTOCOLS, ([, amount]) => amount.packets);
      for (const row of byName(codes)) byPackets.add(row);
      const line = timeLine.read();
      return {
        protocols: byPackets.rows().map(([name, amount]) => ({ name, ...amount })),
        talkers: largest.rows().map((entry) => ({ address: addressOf(entry.key, 0), packets: entry.frames, bytes: entry.octets })),
        flows: kept.rows().filter(({ key }) => key[9] !== 0).map(flowRow),
        flows_total: total,
        timeline: { from: new Date(line?.from ?? 0).toISOString(), step_ms: line?.stepMs ?? 1, packets: [...(line?.steps ?? [])] },
      };
    },
    flows: {
      forEach: (visit) => flows.forEach(({ key }) => visit(key)),
      get isWhole() {
        return flows.evicted === 0;
      },
    },
  };
}

/** Several ports may be of one protocol, as TCP's and UDP's 53. */
function byName(codes: ReadonlyMap<number, Amount>): ReadonlyMap<string, Amount> {
  const names = new Map<string, Amount>();
  for (const [code, { packets, bytes }] of codes) {
    const name = code === OTHER ? "other" : protocolName(code);
    const amount = names.get(name) ?? { packets: 0, bytes: 0 };
    names.set(name, { packets: amount.packets + packets, bytes: amount.bytes + bytes });
  }
  return names;
}

function flowRow({ key, frames, octets, isFirstSender }: TallyEntry): PcapSummary["flows"][number] {
  const ports = [(key[8] as number) >>> 16, (key[8] as number) & 0xffff] as const;
  const [source, destination] = isFirstSender ? ([0, 1] as const) : ([1, 0] as const);
  return {
    protocol: transportName(key[9] as number), source: addressOf(key, source), source_port: ports[source], destination: addressOf(key, destination),
    destination_port: ports[destination], packets: frames, bytes: octets,
  };
}

/** @param end 0 or 1. @returns IP or MAC address of one end, as text; empty where nothing could be read. */
export function addressOf(key: FlowKey, end: 0 | 1): string {
  const bytes = Buffer.alloc(16);
  for (let index = 0; index < 4; index += 1) bytes.writeUInt32BE(key[end * 4 + index] as number, index * 4);
  switch ((key[9] as number) & 0xf_0000) {
    case FAMILY_IPV4:
      return formatIpv4(bytes);
    case FAMILY_IPV6:
      return formatIpv6(bytes);
    case FAMILY_MAC:
      return formatMac(bytes);
    default:
      return "";
  }
}

/** Keeps the largest rows of many, sorted, without holding all. */
function createLargest<T>(most: number, sizeOf: (row: T) => number) {
  let rows: T[] = [];
  const trim = () => {
    rows = rows.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, most);
  };
  return {
    add(row: T): void {
      rows.push(row);
      if (rows.length >= most * 8) trim();
    },
    rows(): readonly T[] {
      trim();
      return rows;
    },
  };
}
