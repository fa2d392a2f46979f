import { type EncapsulationKind, type Frame, IP_PROTOCOL, TCP_FLAG } from "@lanthorn/packets";
import type { Flow } from "./flow.ts";
import type { FlowLimits } from "./flow-limits.ts";
import { type FlowRecord, isClosed } from "./flow-record.ts";
import { type FlowSide, TCP_STATE } from "./flow-side.ts";
import { FlowStore, keepMac } from "./flow-store.ts";
import { noteDatagram, noteGap, noteRetransmission, noteSegment, noteZeroWindow } from "./history.ts";
import { inspectPacket, type OpenInspector } from "./inspect-flow.ts";
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

/** Flows by their key. */
export interface FlowTable {
  /** Counts a packet. @returns Its flow, which is good until the next call. */
  packet(facts: PacketFacts, frame: Frame, way: PacketWay): Flow;
  /**
   * Counts a packet of a flow that is known, and of which nothing but its sums is wanted.
   * @param facts As `readPlainPacket` fills it.
   * @returns False where `packet` is to do it: nothing was counted.
   */
  plain(facts: PacketFacts, bytes: Uint8Array, sourceIpOffset: number): boolean;
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
  const { limits, inspect, watch } = options;
  const store = new FlowStore(limits, options.random, options.onFlow);
  const activeMicroseconds = limits.activeSeconds * 1e6;
  const openInspector = inspect === null ? null : (flow: Flow) => inspect(() => store.keyOf(flow));

  const watched = new WatchedPacket();

  // Apart from `handToWatch`, which would make what the function keeps for each packet.
  function openWatch(flow: Flow, open: OpenFlowWatch): FlowWatch {
    return open(watched, () => store.keyOf(flow));
  }

  function handToWatch(flow: Flow, open: OpenFlowWatch): void {
    flow.watch ??= openWatch(flow, open);
    flow.watch.packet(watched);
  }

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
    plain(facts, bytes, sourceIpOffset) {
      const flow = store.findPlain(facts, bytes, sourceIpOffset);
      if (flow === null || facts.at - flow.startedAt > activeMicroseconds || (openInspector !== null && !flow.isInspected)) return false;
      facts.isFromOriginator = store.isFromOriginator(flow);
      const side = facts.isFromOriginator ? flow.originator : flow.responder;
      if (side.packets === 0) return false;
      track(flow, side, facts);
      store.touch(flow);
      if (watch !== null) {
        watched.fillPlain(facts, bytes, sourceIpOffset - SOURCE_AT);
        handToWatch(flow, watch);
      }
      return true;
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
      if (openInspector !== null && way.isInspected && !flow.isInspected && (flow.isTcp || flow.protocol === IP_PROTOCOL.udp)) {
        inspectPacket(flow, facts, frame, openInspector);
      }
      store.touch(flow);
      if (watch !== null) {
        watched.fillFrom(facts, frame);
        handToWatch(flow, watch);
      }
      return flow;
    },
    store,
    watched,
  };
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
