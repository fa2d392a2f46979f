import { type EncapsulationKind, type Frame, IP_PROTOCOL, TCP_FLAG } from "@lanthorn/packets";
import type { Flow } from "./flow.ts";
import type { FlowLimits } from "./flow-limits.ts";
import { type FlowRecord, isClosed } from "./flow-record.ts";
import { type FlowSide, TCP_STATE } from "./flow-side.ts";
import { FlowStore, keepMac } from "./flow-store.ts";
import { noteDatagram, noteGap, noteRetransmission, noteSegment, noteZeroWindow } from "./history.ts";
import { inspectPacket, type OpenInspector, passOver } from "./inspect-flow.ts";
import type { PacketFacts } from "./packet-facts.ts";
import { type FlowWatch, type OpenFlowWatch, WatchedPacket } from "../watch/packet-watch.ts";
import { SEGMENT, trackAcknowledgment, trackSegment } from "./tcp-sequence.ts";
import { advanceTcpState } from "./tcp-state.ts";

/** Of the addresses in a header of IPv4. */
const SOURCE_AT = 12;

/** How a packet came. */
export interface PacketWay {
  /** Outermost first. */
  readonly encapsulations: readonly EncapsulationKind[];
  /** The flows around it, outermost first. */
  readonly parents: readonly string[];
  /** Whether its payload is to be inspected: it is not itself a tunnel. */
  readonly isInspected: boolean;
}

/** What is done with packets beside counting them. */
export interface FlowLook {
  /** Whether payloads are looked into, where there is an inspection. */
  readonly isInspected: boolean;
  /** Who is given each packet with its flow; null for nobody. */
  readonly watch: OpenFlowWatch | null;
}

/** Flows by their key. */
export interface FlowTable {
  /** From the next packet on. What looked into a flow until now ends with the flow's next packet, and what looks then begins in the middle of it. */
  look(how: FlowLook): void;
  /** Counts a packet. @returns Its flow, which is good until the next call. */
  packet(facts: PacketFacts, frame: Frame, way: PacketWay): Flow;
  /**
   * Counts a packet of a flow that is known, and of which nothing but its sums is wanted.
   * @param facts As `readPlainPacket` fills it.
   * @returns The flow's number, from 1 on; 0 where `packet` is to do it: nothing was counted.
   */
  plain(facts: PacketFacts, bytes: Uint8Array, sourceIpOffset: number): number;
  readonly store: FlowStore;
  /** The packet that is watched; its frame is counted by who hands frames in. */
  readonly watched: WatchedPacket;
}

/** A table of at most `maxFlows` flows. */
export function createFlowTable(options: {
  readonly limits: FlowLimits;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly onFlow: (record: FlowRecord) => void;
  readonly inspect: OpenInspector | null;
  readonly watch: OpenFlowWatch | null;
}): FlowTable {
  const { limits, inspect } = options;
  let isInspecting = inspect !== null;
  const store = new FlowStore(limits, options.random, options.onFlow);
  const activeMicroseconds = limits.activeSeconds * 1e6;
  const openInspector = inspect === null ? null : (flow: Flow) => inspect(() => store.keyOf(flow));

  const watching = createWatching(store, options.watch);
  const { watched } = watching;

  function flowOf(facts: PacketFacts, frame: Frame, way: PacketWay): Flow {
    let flow = store.find(facts, frame);
    if (flow !== null && facts.isTcp && isReuse(flow, facts, store.isFromOriginator(flow))) {
      store.close(flow, "reused");
      flow = store.find(facts, frame);
    }
    if (flow !== null) return flow;
    flow = store.open(facts, frame);
    flow.encapsulations = way.encapsulations;
    flow.tunnelParents = way.parents;
    return flow;
  }

  return {
    look(how) {
      isInspecting = how.isInspected && inspect !== null;
      watching.use(how.watch);
    },
    plain(facts, bytes, sourceIpOffset) {
      const flow = store.findPlain(facts, bytes, sourceIpOffset);
      if (flow === null || facts.at - flow.startedAt > activeMicroseconds || (isInspecting && !flow.isInspected)) return 0;
      facts.isFromOriginator = store.isFromOriginator(flow);
      const side = facts.isFromOriginator ? flow.originator : flow.responder;
      if (side.packets === 0) return 0;
      track(flow, side, facts);
      store.touch(flow);
      if (!isInspecting) passOver(flow);
      if (watching.open !== null) {
        watched.fillPlain(facts, bytes, sourceIpOffset - SOURCE_AT);
        watching.hand(flow, watching.open);
      } else if (flow.watch !== null) endWatch(flow);
      return flow.number;
    },
    packet(facts, frame, way) {
      const flow = flowOf(facts, frame, way);
      if (facts.at - flow.startedAt > activeMicroseconds) {
        store.write(flow, "active");
        beginPart(flow, facts.at);
      }
      facts.isFromOriginator = store.isFromOriginator(flow);
      const side = facts.isFromOriginator ? flow.originator : flow.responder;
      if (side.packets === 0) keepMac(side, frame, frame.sourceMacOffset);
      track(flow, side, facts);
      if (!isInspecting) passOver(flow);
      else if (openInspector !== null && way.isInspected && !flow.isInspected && (flow.isTcp || flow.protocol === IP_PROTOCOL.udp)) {
        inspectPacket(flow, facts, frame, openInspector);
      }
      store.touch(flow);
      if (watching.open !== null) {
        watched.fillFrom(facts, frame);
        watching.hand(flow, watching.open);
      } else if (flow.watch !== null) endWatch(flow);
      return flow;
    },
    store,
    watched,
  };
}

/** Who is given each packet, by a watch of its flow. @param open Null for nobody. */
function createWatching(store: FlowStore, open: OpenFlowWatch | null) {
  const watched = new WatchedPacket();
  /** Goes up with each other one. */
  let number = 0;

  // Apart from `hand`, which would make what the function keeps for each packet.
  function openWatch(flow: Flow, by: OpenFlowWatch): FlowWatch {
    return by(watched, () => store.keyOf(flow));
  }

  const watching = {
    watched, open,
    use(next: OpenFlowWatch | null): void {
      if (watching.open === next) return;
      watching.open = next;
      number += 1;
    },
    hand(flow: Flow, to: OpenFlowWatch): void {
      if (flow.watch !== null && flow.watchNumber !== number) endWatch(flow);
      flow.watch ??= openWatch(flow, to);
      flow.watchNumber = number;
      flow.watch.packet(watched);
    },
  };
  return watching;
}

function endWatch(flow: Flow): void {
  flow.watch?.end();
  flow.watch = null;
}

function track(flow: Flow, side: FlowSide, facts: PacketFacts): void {
  count(flow, side, facts);
  if (flow.isTcp) {
    trackTcp(flow, facts);
    return;
  }
  side.payloadBytes += facts.payloadBytes;
  if (flow.protocol === IP_PROTOCOL.udp && facts.payloadBytes > 0) noteDatagram(flow, side);
}

function count(flow: Flow, side: FlowSide, facts: PacketFacts): void {
  side.packets += 1;
  side.ipBytes += facts.ipBytes;
  side.wireBytes += facts.wireBytes;
  if (facts.fragmentFrames > 0) {
    side.fragmentFrames += facts.fragmentFrames;
    side.fragmentBytes += facts.fragmentBytes;
  }
  if (facts.at > flow.lastAt) flow.lastAt = facts.at;
}

/** A SYN with another sequence number behind the beginning of a connection is the next one between the same ports. */
function isReuse(flow: Flow, { flags, sequence }: PacketFacts, isFromOriginator: boolean): boolean {
  if ((flags & (TCP_FLAG.syn | TCP_FLAG.ack | TCP_FLAG.rst | TCP_FLAG.fin)) !== TCP_FLAG.syn) return false;
  const side = isFromOriginator ? flow.originator : flow.responder;
  if (side.hasSyn) return side.initial !== ((sequence + 1) | 0) && (side.state > TCP_STATE.synAckSent || isClosed(flow));
  // The end that did not begin begins another one; or only the middle of the connection was seen.
  return isFromOriginator ? flow.isMidstream : isClosed(flow);
}

function beginPart(flow: Flow, at: number): void {
  flow.part += 1;
  flow.startedAt = at;
  flow.history = "";
  flow.originator.resetCounts();
  flow.responder.resetCounts();
}

function trackTcp(flow: Flow, facts: PacketFacts): void {
  const { flags, isFromOriginator } = facts;
  const side = isFromOriginator ? flow.originator : flow.responder;
  const peer = isFromOriginator ? flow.responder : flow.originator;
  noteSegment(flow, side, facts);
  const what = trackSegment(side, facts.sequence, facts.payloadBytes, flags);
  if (what === SEGMENT.retransmission) noteRetransmission(flow, side);
  if (facts.window === 0) noteZeroWindow(flow, side, peer, flags);
  // What a reset acknowledges is not to be relied on.
  if ((flags & (TCP_FLAG.ack | TCP_FLAG.rst)) === TCP_FLAG.ack && trackAcknowledgment(peer, facts.acknowledgment)) noteGap(flow, peer);
  advanceTcpState(side, peer, isFromOriginator, flags, facts.payloadBytes);
}
