import { type Frame, TCP_FLAG } from "@lanthorn/packets";
import type { FlowInspector } from "../flow-inspector.ts";
import type { Flow } from "./flow.ts";
import type { FlowKey } from "./flow-key.ts";
import type { PacketFacts } from "./packet-facts.ts";

const NO_BYTES = new Uint8Array(0);

/** Looks into the payload of a flow. The key is made when something was said: making it for each flow costs more than looking. */
export type OpenInspector = (key: () => FlowKey) => FlowInspector;

/**
 * Gives a packet to the flow's inspector, which is opened at the first payload: a scan's or a flood's SYNs cost none. The SYNs before it are
 * given then.
 */
export function inspectPacket(flow: Flow, facts: PacketFacts, frame: Frame, open: (flow: Flow) => FlowInspector): void {
  const isOriginator = facts.isFromOriginator;
  let { inspector } = flow;
  if (inspector === null) {
    if (frame.payloadEnd <= frame.payloadOffset) {
      if (facts.isTcp && (facts.flags & TCP_FLAG.syn) !== 0) keepSyn(flow, facts);
      return;
    }
    inspector = open(flow);
    flow.inspector = inspector;
    if (facts.isTcp && !flow.isPassedOver) replaySyns(flow, inspector, facts.at);
  }
  const side = isOriginator ? 0 : 1;
  const payload = frame.payloadEnd > frame.payloadOffset ? frame.payload : NO_BYTES;
  if (facts.isTcp) {
    const acknowledgment = (facts.flags & TCP_FLAG.ack) === 0 ? 0 : facts.acknowledgment >>> 0;
    inspector.segment(side, facts.sequence >>> 0, acknowledgment, facts.flags, payload, facts.at);
  } else inspector.datagram(side, payload, facts.at);
  if (inspector.isDone) endInspection(flow);
}

/** Ends the inspector; what it said stays. */
export function endInspection(flow: Flow): void {
  flow.isInspected = true;
  dropInspector(flow);
}

/** Lets a packet go by that is not to be looked into: what looked before ends. */
export function passOver(flow: Flow): void {
  flow.isPassedOver = true;
  dropInspector(flow);
}

function dropInspector(flow: Flow): void {
  if (flow.inspector === null) return;
  flow.inspector.end();
  flow.service = serviceOf(flow);
  flow.inspector = null;
}

/** What the flow's protocol was found to be; "" while that is not known. */
export function serviceOf({ inspector, service }: Flow): string {
  return inspector === null || inspector.service === "" ? service : inspector.service;
}

function keepSyn(flow: Flow, { isFromOriginator, sequence, acknowledgment }: PacketFacts): void {
  if (isFromOriginator) flow.synSequence = sequence;
  else {
    flow.synAckSequence = sequence;
    flow.synAckAcknowledgment = acknowledgment;
  }
}

function replaySyns(flow: Flow, inspector: FlowInspector, at: number): void {
  if (flow.originator.hasSyn && flow.originator.packets > 0) inspector.segment(0, flow.synSequence >>> 0, 0, TCP_FLAG.syn, NO_BYTES, at);
  if (flow.responder.hasSyn) {
    inspector.segment(1, flow.synAckSequence >>> 0, flow.synAckAcknowledgment >>> 0, TCP_FLAG.syn | TCP_FLAG.ack, NO_BYTES, at);
  }
}
