import { decodeFrame, isLinkType, LINK_TYPE, type LinkType } from "@lanthorn/packets";
import type { FlowKey } from "./flows/flow-key.ts";
import { FLOW_LIMITS, type FlowLimits } from "./flows/flow-limits.ts";
import type { FlowRecord } from "./flows/flow-record.ts";
import type { FlowCounters } from "./flows/flow-store.ts";
import { createFlowTable, type FlowLook } from "./flows/flow-table.ts";
import { PacketFacts } from "./flows/packet-facts.ts";
import { readPlainPacket } from "./plain-packet.ts";
import { createDefragmenter, FRAGMENT_LIMITS, type FragmentCounters, type FragmentLimits } from "./fragments/defragmenter.ts";
import type { InspectionLimits } from "./inspection-limits.ts";
import { createInspection, type InspectionCounters } from "./inspector.ts";
import { createPacketWalk } from "./packet-walk.ts";
import type { OpenFlowWatch } from "./watch/packet-watch.ts";
import type { TrafficMessage } from "./traffic-message.ts";

/** What the analyzer has seen. */
export interface AnalyzerCounters {
  readonly frames: number;
  /** As on the wire. */
  readonly octets: number;
  /** IP packets that were counted in a flow; those inside of tunnels as well as what carries them. */
  readonly packets: number;
  /** Frames of what is known and no IP, by kind: `arp`, `llc`, `ethertype-88cc`. */
  readonly notIp: Readonly<Record<string, number>>;
  /** Frames of which something could not be read, by kind: `malformed-tcp`, `gre-version-3`, `link-type-105`, `cut`. */
  readonly notUnderstood: Readonly<Record<string, number>>;
  readonly flows: FlowCounters;
  readonly fragments: FragmentCounters;
  /** Null where payloads are not looked at. */
  readonly inspection: InspectionCounters | null;
}

/** Turns frames into flows and what is said in them. */
export interface Analyzer {
  /**
   * Takes a frame. It never throws, whatever the bytes are, and keeps no reference to them.
   * @param wireLength More than `bytes.length` where the snap length cut the frame.
   * @param atMicroseconds Since the epoch. Time may go back a little.
   * @param linkType Ethernet unless given.
   */
  frame(bytes: Uint8Array, wireLength: number, atMicroseconds: number, linkType?: number): void;
  /**
   * The same for an Ethernet frame that lies in longer memory: most need no view of their own.
   * @returns The number of its flow, which no other one of this analyzer has, where the frame has nothing but a packet of TCP or UDP in IPv4 of
   * a flow that was there before, without tags and tunnels: both addresses, the protocol and both ports are the flow's. 0 for any other frame.
   */
  placedFrame(memory: Uint8Array, offset: number, length: number, wireLength: number, atMicroseconds: number): number;
  /** What is done from the next frame on, while the flows go on: see `FlowLook`. */
  look(how: FlowLook): void;
  /** Ends what is idle; call it when no frames come. Frames do the same by their own times. @returns False where it is to be called again: see `endedAtOnce`. */
  tick(atMicroseconds: number): boolean;
  /** Ends all flows. @param atMost So many of them; all unless given. @returns False where more are open. */
  flush(atMost?: number): boolean;
  counters(): AnalyzerCounters;
}

/** How frames are to be analyzed. */
export interface AnalyzerOptions {
  readonly flows?: Partial<FlowLimits>;
  readonly fragments?: Partial<FragmentLimits>;
  readonly inspection?: Partial<InspectionLimits>;
  /** Idle flows that end in one call; all unless given. A thousand take some 4 ms, and nothing else is done meanwhile. */
  readonly endedAtOnce?: number;
  /** From 0 to below 1: keys the hashes, and makes ids unique among runs. */
  readonly random: () => number;
  readonly onFlow: (record: FlowRecord) => void;
  /** What is said in a flow; views in it are good during the call only. Null: payloads are not looked at, and no flow has a service. */
  readonly onMessage: ((flow: FlowKey, message: TrafficMessage) => void) | null;
  /** Is given each packet with its flow, once it is counted there; those of tunnels, and those in them. None unless given. */
  readonly watch?: OpenFlowWatch | null;
}

const EXPIRE_EVERY_MICROSECONDS = 1e6;
/** Files are read one after the other, and the clock of one may be behind another's. */
const MAX_BACK_MICROSECONDS = 10e6;

/** Decapsulation, defragmentation, flow table and inspection, in this order. */
export function createAnalyzer({ random, onFlow, onMessage, watch = null, endedAtOnce = Number.POSITIVE_INFINITY, ...limits }: AnalyzerOptions): Analyzer {
  const inspection = onMessage && createInspection<() => FlowKey>({
    limits: limits.inspection ?? {}, onMessage: (key, message) => onMessage(key(), message),
  });
  const table = createFlowTable({
    limits: { ...FLOW_LIMITS, ...limits.flows }, random, onFlow, inspect: inspection && ((key) => inspection.open(key)), watch,
  });
  const defragmenter = createDefragmenter({ ...FRAGMENT_LIMITS, ...limits.fragments }, random);
  const { walk, packets, notIp, notUnderstood } = createPacketWalk(table, defragmenter);
  const facts = new PacketFacts();
  // Beyond 2^30 V8 makes an object of each number that a variable of a closure is given, and none of a property's.
  const sums = { frames: 0, octets: 0, plainPackets: 0 };
  let expiredAt = 0;

  function expire(at: number): boolean {
    expiredAt = at;
    defragmenter.expire(at);
    return table.store.expire(at, endedAtOnce);
  }

  function begin(wireLength: number, at: number): void {
    sums.frames += 1;
    table.watched.frameNumber = sums.frames;
    sums.octets += wireLength;
    if (at - expiredAt >= EXPIRE_EVERY_MICROSECONDS || expiredAt - at > MAX_BACK_MICROSECONDS) expire(at);
  }

  function analyze(bytes: Uint8Array, wireLength: number, at: number, linkType: LinkType): void {
    const decoded = decodeFrame(bytes, { linkType, wireLength });
    if (decoded.ok) walk(decoded.value, wireLength, at);
    else notUnderstood.add(`malformed-${decoded.layer}`);
  }

  return {
    placedFrame(memory, offset, length, wireLength, atMicroseconds) {
      begin(wireLength, atMicroseconds);
      const sourceAt = readPlainPacket(facts, memory, offset, length, wireLength);
      facts.at = atMicroseconds;
      const flowNumber = sourceAt < 0 ? 0 : table.plain(facts, memory, sourceAt);
      if (flowNumber > 0) sums.plainPackets += 1;
      else analyze(memory.subarray(offset, offset + length), wireLength, atMicroseconds, LINK_TYPE.ethernet);
      return flowNumber;
    },
    frame(bytes, wireLength, atMicroseconds, linkType = LINK_TYPE.ethernet) {
      begin(wireLength, atMicroseconds);
      if (!isLinkType(linkType)) {
        notUnderstood.add(`link-type-${linkType}`);
        return;
      }
      analyze(bytes, wireLength, atMicroseconds, linkType);
    },
    look: table.look,
    tick: expire,
    flush: (atMost = Number.POSITIVE_INFINITY) => table.store.flush(atMost),
    counters: () => ({
      frames: sums.frames, octets: sums.octets, packets: packets() + sums.plainPackets, notIp: notIp.counts(), notUnderstood: notUnderstood.counts(), flows: table.store.counters(),
      fragments: defragmenter.counters(), inspection: inspection && inspection.counters(),
    }),
  };
}
