import { type Frame, IP_PROTOCOL } from "@lanthorn/packets";
import { icmpEnds } from "./icmp-ends.ts";

/** What the flow table needs of one packet. One object is filled anew for each. */
export class PacketFacts {
  /** Microseconds since the epoch. */
  at = 0;
  /** Of the frame, as on the wire; of all frames where the packet came in fragments. */
  wireBytes = 0;
  fragmentFrames = 0;
  fragmentBytes = 0;
  /** Of the IP packet, as on the wire. */
  ipBytes = 0;
  protocol = 0;
  isIpv4 = true;
  isTcp = false;
  /** ICMP's ends stand for ports as Zeek has them. */
  sourcePort = 0;
  destinationPort = 0;
  /** What takes the place of the ports in the key of ICMP: the type of the one that asks, code and identifier; -1 for others. */
  icmpKey = -1;
  icmpId = -1;
  /** This is what answers, so its sender is not who began. */
  isAnswer = false;
  sequence = 0;
  acknowledgment = 0;
  flags = 0;
  window = 0;
  /** Of the payload, as on the wire. */
  payloadBytes = 0;
  /** VXLAN, Geneve, 802.1ah. */
  network = 0;
  /** Filled by the table. */
  isFromOriginator = true;
}

const IP_HEADER_LENGTH_AT = { ipv4: 2, ipv6: 4 } as const;
const IPV6_HEADER_LENGTH = 40;
/** SCTP, DCCP and UDP-Lite begin with two ports as TCP does. */
const OTHERS_WITH_PORTS: ReadonlySet<number> = new Set([33, 132, 136]);
const UNREAD_TRANSPORTS: ReadonlySet<number> = new Set([IP_PROTOCOL.tcp, IP_PROTOCOL.udp, IP_PROTOCOL.icmpv4, IP_PROTOCOL.icmpv6]);

/**
 * Reads a whole IP packet, no fragment.
 * @returns False where its transport header is cut, so that nothing says to which flow it belongs.
 */
export function readPacketFacts(facts: PacketFacts, frame: Frame): boolean {
  const { bytes } = frame;
  facts.protocol = frame.ipProtocol;
  facts.isIpv4 = frame.network === "ipv4";
  facts.ipBytes = ipBytesOf(frame, facts.wireBytes);
  facts.icmpKey = -1;
  facts.icmpId = -1;
  facts.isAnswer = false;
  facts.isTcp = false;
  // The snap length may have cut it: what the IP header says counts.
  const payloadBytes = facts.ipBytes - (frame.payloadOffset - frame.networkOffset);
  facts.payloadBytes = payloadBytes > 0 ? payloadBytes : 0;
  switch (frame.transport) {
    case "tcp": {
      const at = frame.transportOffset;
      facts.isTcp = true;
      facts.sourcePort = frame.sourcePort;
      facts.destinationPort = frame.destinationPort;
      facts.sequence = int32(bytes, at + 4);
      facts.acknowledgment = int32(bytes, at + 8);
      facts.flags = frame.tcpFlags;
      facts.window = uint16(bytes, at + 14);
      return true;
    }
    case "udp":
      facts.sourcePort = frame.sourcePort;
      facts.destinationPort = frame.destinationPort;
      return true;
    case "icmpv4":
    case "icmpv6":
      readIcmp(facts, frame, frame.transport);
      return true;
    case "none":
    case "other":
      if (UNREAD_TRANSPORTS.has(frame.ipProtocol)) return false;
      facts.sourcePort = 0;
      facts.destinationPort = 0;
      if (OTHERS_WITH_PORTS.has(frame.ipProtocol) && frame.transportOffset + 4 <= frame.networkEnd) {
        facts.sourcePort = uint16(bytes, frame.transportOffset);
        facts.destinationPort = uint16(bytes, frame.transportOffset + 2);
      }
      return true;
    default:
      return frame.transport satisfies never;
  }
}

function readIcmp(facts: PacketFacts, { bytes, icmpType, icmpCode, payloadOffset, payloadEnd }: Frame, version: "icmpv4" | "icmpv6"): void {
  const ends = icmpEnds(version, icmpType);
  if (ends === null) {
    facts.sourcePort = icmpType;
    facts.destinationPort = icmpCode;
    facts.icmpKey = (icmpType << 24) | (icmpCode << 16);
    return;
  }
  if (ends.hasIdentifier && payloadOffset + 2 <= payloadEnd) facts.icmpId = uint16(bytes, payloadOffset);
  facts.isAnswer = ends.isAnswer;
  facts.sourcePort = ends.isAnswer ? ends.counterpart : ends.type;
  facts.destinationPort = ends.isAnswer ? ends.type : ends.counterpart;
  facts.icmpKey = (ends.type << 24) | Math.max(facts.icmpId, 0);
}

/** A length of 0 is what a sending host's own capture shows of a packet that its network card will cut into segments. */
function ipBytesOf(frame: Frame, wireBytes: number): number {
  const isIpv4 = frame.network === "ipv4";
  const said = uint16(frame.bytes, frame.networkOffset + (isIpv4 ? IP_HEADER_LENGTH_AT.ipv4 : IP_HEADER_LENGTH_AT.ipv6));
  if (said > 0) return isIpv4 ? said : said + IPV6_HEADER_LENGTH;
  return frame.isCut ? Math.max(wireBytes - frame.networkOffset, 0) : frame.networkEnd - frame.networkOffset;
}

function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/** As a signed number, which needs no memory of its own. */
export function int32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
}
