/** Every packet with its flow, for who looks at packets as well as at what flows say. */
import type { Frame } from "@lanthorn/packets";
import type { FlowKey } from "../flows/flow-key.ts";
import type { PacketFacts } from "../flows/packet-facts.ts";

const NO_BYTES = new Uint8Array(0);

/** One IP packet, whole. One object is filled anew for each; views of it are good during the call. */
export class WatchedPacket {
  /** Microseconds since the epoch. */
  at = 0;
  /** Of the frame that it came in, or that made it whole; from 1, as the analyzer counts them. */
  frameNumber = 0;
  isFromOriginator = true;
  protocol = 0;
  isIpv4 = true;
  isTcp = false;
  /** -1 without TCP, UDP or SCTP. */
  sourcePort = -1;
  destinationPort = -1;
  /** Of TCP, as numbers without a sign. */
  sequence = 0;
  acknowledgment = 0;
  flags = 0;
  window = 0;
  /** As on the wire. */
  ipBytes = 0;
  /** Where the packet lies: may be longer memory than the frame. */
  bytes: Uint8Array = NO_BYTES;
  networkOffset = 0;
  networkEnd = 0;
  transportOffset = 0;
  payloadOffset = 0;
  payloadEnd = 0;
  /** It was put together from fragments. */
  isRebuilt = false;
  /** The frame, where it was decoded: nearly all packets of plain TCP and UDP are not. */
  frame: Frame | null = null;

  /** Filled from what is known of any packet. */
  fill(facts: PacketFacts): void {
    this.at = facts.at;
    this.isFromOriginator = facts.isFromOriginator;
    this.protocol = facts.protocol;
    this.isIpv4 = facts.isIpv4;
    this.isTcp = facts.isTcp;
    const hasPorts = facts.icmpKey === -1 && (facts.sourcePort !== 0 || facts.destinationPort !== 0 || facts.isTcp || facts.protocol === 17);
    this.sourcePort = hasPorts ? facts.sourcePort : -1;
    this.destinationPort = hasPorts ? facts.destinationPort : -1;
    this.sequence = facts.sequence >>> 0;
    this.acknowledgment = facts.acknowledgment >>> 0;
    this.flags = facts.flags;
    this.window = facts.window;
    this.ipBytes = facts.ipBytes;
    this.isRebuilt = facts.fragmentFrames > 0;
  }

  /** Of a frame that was decoded. */
  fillFrom(facts: PacketFacts, frame: Frame): void {
    this.fill(facts);
    this.frame = frame;
    this.bytes = frame.bytes;
    this.networkOffset = frame.networkOffset;
    this.networkEnd = frame.networkEnd;
    this.transportOffset = frame.transportOffset;
    this.payloadOffset = frame.payloadOffset;
    this.payloadEnd = Math.max(frame.payloadEnd, frame.payloadOffset);
  }

  /** Of plain TCP or UDP in IPv4, as `readPlainPacket` reads it. */
  fillPlain(facts: PacketFacts, bytes: Uint8Array, networkOffset: number): void {
    this.fill(facts);
    this.frame = null;
    this.bytes = bytes;
    this.networkOffset = networkOffset;
    this.networkEnd = networkOffset + facts.ipBytes;
    this.transportOffset = networkOffset + PLAIN_HEADER_OCTETS;
    this.payloadEnd = this.networkEnd;
    this.payloadOffset = this.networkEnd - facts.payloadBytes;
  }
}

const PLAIN_HEADER_OCTETS = 20;

/** Watches the packets of one flow. */
export interface FlowWatch {
  /** Takes a packet of the flow, in the order of capture; the first one too. */
  packet(packet: WatchedPacket): void;
  /** The flow is over. */
  end(): void;
}

/** @param key Of the flow; made when somebody asks. */
export type OpenFlowWatch = (packet: WatchedPacket, key: () => FlowKey) => FlowWatch;
