/** Plays a capture file to an inspection, flow by flow. For tests only: the product's way is the analyzer. */
import { readFileSync } from "node:fs";
import { decodeFrame, decodeTcp, formatIp, isLinkType, readCapture } from "@lanthorn/packets";
import type { FlowInspector } from "../flow-inspector.ts";
import { createInspection } from "../inspector.ts";
import type { TrafficMessage } from "../traffic-message.ts";

const NO_BYTES = new Uint8Array(0);

/** What one flow said. */
export interface PlayedFlow {
  readonly key: string;
  readonly inspector: FlowInspector;
  readonly messages: TrafficMessage[];
  /** Who sent its first frame. */
  readonly first: string;
}

/** @returns The flows of a capture file by the order of their first frames. */
export function playCapture(file: string): readonly PlayedFlow[] {
  const flows = new Map<string, PlayedFlow>();
  const inspection = createInspection<TrafficMessage[]>({ onMessage: (messages, message) => messages.push(structuredClone(message)) });
  for (const [index, record] of readCapture(readFileSync(file)).records.entries()) {
    if (!isLinkType(record.linkType)) continue;
    const decoded = decodeFrame(record.bytes, { linkType: record.linkType, wireLength: record.originalLength });
    if (!decoded.ok || (decoded.value.transport !== "tcp" && decoded.value.transport !== "udp")) continue;
    const frame = decoded.value;
    const from = `${formatIp(frame.sourceIp ?? NO_BYTES)} ${frame.sourcePort}`;
    const to = `${formatIp(frame.destinationIp ?? NO_BYTES)} ${frame.destinationPort}`;
    const key = [frame.transport, ...[from, to].toSorted()].join(" ");
    const messages: TrafficMessage[] = [];
    const flow = flows.get(key) ?? { key, inspector: inspection.open(messages), messages, first: from };
    flows.set(key, flow);
    const side = flow.first === from ? 0 : 1;
    const tcp = frame.transport === "tcp" ? decodeTcp(frame.transportBytes) : null;
    if (tcp?.ok) {
      const { sequenceNumber, acknowledgmentNumber, flags, payload } = tcp.value;
      flow.inspector.segment(side, sequenceNumber, acknowledgmentNumber, flags, payload, index);
    } else if (!tcp) flow.inspector.datagram(side, frame.payload, index);
  }
  for (const { inspector } of flows.values()) inspector.end();
  return [...flows.values()];
}
