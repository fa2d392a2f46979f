import { scanArp } from "./link/arp.ts";
import { badValue, type Decoded, type Malformed } from "./decoded.ts";
import { scanEthernet } from "./link/ethernet.ts";
import { FrameFields } from "./frame-fields.ts";
import { scanIcmp } from "./ip/icmpv4.ts";
import { scanIpv4, scanIpv4Authentication } from "./ip/ipv4.ts";
import { scanIpv6 } from "./ip/ipv6.ts";
import { scanLlc } from "./link/llc.ts";
import { ETHER_TYPE, IP_PROTOCOL, LINK_TYPE, type LinkType } from "./numbers.ts";
import { scanLinuxCooked, scanLinuxCookedV2, scanNullLoopback, scanRawIp } from "./link/other-links.ts";
import { Reader } from "./reader.ts";
import { scanTcp } from "./transport/tcp.ts";
import { scanUdp } from "./transport/udp.ts";

export type { Audience, NetworkLayer, TransportLayer } from "./frame-fields.ts";

/**
 * One frame's headers, as numbers and offsets into the bytes it was decoded from, with views made on demand.
 * It owns nothing: it is good for as long as those bytes are left alone.
 */
export type Frame = Readonly<FrameFields>;

interface FrameOptions {
  /** How the frame begins; Ethernet unless given. */
  readonly linkType?: LinkType;
  /** How long the frame was on the wire, when the capture kept less: then a length may point past the end. */
  readonly wireLength?: number;
}

/**
 * Reads a frame's headers from the link to the transport layer: VLAN tags, ARP, IPv4, IPv6 with extensions, UDP, TCP, ICMP.
 * What is behind them (options, Neighbor Discovery, DHCP) is for the decoder of that protocol and one of the frame's views.
 * A transport header that the snap length or a small first fragment has cut is left out: `transport` is then `other`.
 * Checksums are not checked: a capture on the sending host shows them before the network card fills them.
 * @param bytes The whole frame, without preamble and check sequence. Not copied: see `Frame`.
 * @returns The frame, or where it stopped making sense, `offset` counted from its first byte.
 */
export function decodeFrame(bytes: Uint8Array, options?: FrameOptions): Decoded<Frame> {
  const linkType = options?.linkType ?? LINK_TYPE.ethernet;
  const wireLength = options?.wireLength ?? bytes.length;
  const fields = new FrameFields(bytes, linkType, wireLength > bytes.length);
  const reader = new Reader(bytes);
  return decodeUpwards(reader, fields, scanLink(reader, fields));
}

/**
 * Reads on from the network layer, where `reader` stands and which `fields` name; `linkStop` is what ended the layer below. Of a frame
 * inside of another one too.
 */
export function decodeUpwards(reader: Reader, fields: FrameFields, linkStop: Malformed | null): Decoded<Frame> {
  let stop = linkStop;
  if (stop === null && fields.network === "llc") stop = scanLlc(reader, fields);
  if (stop === null) stop = scanNetwork(reader, fields);
  if (stop === null && fields.ipProtocol >= 0 && fields.fragmentOffset === 0) stop = scanTransport(reader, fields);
  if (stop !== null && isCutBehindIp(stop, fields)) {
    fields.transport = "other";
    stop = null;
  }
  return stop ?? { ok: true, value: fields };
}

/** The snap length or a small first fragment ends the frame behind the IP header: what the IP layer says is still good. */
function isCutBehindIp(stop: Malformed, { isCut, moreFragments, ipProtocol }: FrameFields): boolean {
  return stop.code === "truncated" && ipProtocol >= 0 && (isCut || moreFragments);
}

function scanLink(reader: Reader, fields: FrameFields): Malformed | null {
  switch (fields.linkType) {
    case LINK_TYPE.ethernet:
      return scanEthernet(reader, fields);
    case LINK_TYPE.rawIp:
    case LINK_TYPE.rawIpv4:
    case LINK_TYPE.rawIpv6:
      return scanRawIp(reader, fields);
    case LINK_TYPE.linuxCooked:
      return scanLinuxCooked(reader, fields);
    case LINK_TYPE.linuxCookedV2:
      return scanLinuxCookedV2(reader, fields);
    case LINK_TYPE.null:
    case LINK_TYPE.loop:
      return scanNullLoopback(reader, fields);
    default:
      // Only a cast gets here: `isLinkType` tells before.
      return badValue("link", 0);
  }
}

function scanNetwork(reader: Reader, fields: FrameFields): Malformed | null {
  switch (fields.etherType) {
    case ETHER_TYPE.ipv4:
      return scanIpv4(reader, fields);
    case ETHER_TYPE.ipv6:
      return scanIpv6(reader, fields);
    case ETHER_TYPE.arp:
      return scanArp(reader, fields);
    default:
      fields.payloadOffset = fields.networkOffset;
      fields.payloadEnd = fields.networkEnd;
      return null;
  }
}

function scanTransport(reader: Reader, fields: FrameFields): Malformed | null {
  switch (fields.ipProtocol) {
    case IP_PROTOCOL.tcp:
      return scanTcp(reader, fields);
    case IP_PROTOCOL.udp:
      return scanUdp(reader, fields);
    case IP_PROTOCOL.icmpv4:
      return scanIcmp(reader, fields, "icmpv4");
    case IP_PROTOCOL.icmpv6:
      return scanIcmp(reader, fields, "icmpv6");
    case IP_PROTOCOL.noNextHeader:
      return null;
    case IP_PROTOCOL.authentication:
      return scanIpv4Authentication(reader, fields) ?? scanTransport(reader, fields);
    default:
      fields.transport = "other";
      return null;
  }
}
