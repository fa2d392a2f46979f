import type { CaptureSettings } from "@lanthorn/contract/uplink";
import {
  type AddressPrefix, type Decoded, decodeFrame, decodeLlc, ETHER_TYPE, type Frame, IP_PROTOCOL, LINK_TYPE, type LinkType, parsePrefix, prefixHolds,
} from "@lanthorn/packets";
import type { FrameView } from "@lanthorn/packet-io";

/** What of each frame is not kept: the site's settings. */
export interface CapturePrivacy {
  /** Of no frame anything behind its headers. */
  readonly headersOnly: boolean;
  /** As CIDR: of frames from or to these networks nothing behind their headers. */
  readonly headersOnlyNetworks: readonly string[];
}

/** Everything is kept. */
export const KEEP_ALL: CapturePrivacy = { headersOnly: false, headersOnlyNetworks: [] };

/** What a site wants left out: of files and of live views alike. */
export function privacyOf(site: Pick<CaptureSettings, "headers_only" | "headers_only_networks">): CapturePrivacy {
  return { headersOnly: site.headers_only, headersOnlyNetworks: site.headers_only_networks };
}

/** Leaves out what either does. */
export function narrower(one: CapturePrivacy, other: CapturePrivacy): CapturePrivacy {
  return {
    headersOnly: one.headersOnly || other.headersOnly, headersOnlyNetworks: [...new Set([...one.headersOnlyNetworks, ...other.headersOnlyNetworks])],
  };
}

/** Says how much of a frame may be written. */
export interface PrivacyCut {
  /** Octets from the front of the frame, at most its length. */
  keptLength(frame: FrameView): number;
  /** What is left out, in words; empty where nothing is. */
  readonly words: string;
}

/** MAC addresses and EtherType. */
const ETHERNET_BYTES = 14;
/** Behind type, code and checksum: identifier and sequence number of an echo; in errors, what comes before the quote. */
const ICMP_REST_BYTES = 4;
/** What comes behind these in a redirect of IPv6: two addresses. RFC 4861 section 4.5. */
const REDIRECT_BYTES = 32;
/** An error quotes at least so much behind the IP header. RFC 792. */
const QUOTED_BYTES = 8;
/** Messages of ICMPv4 that quote no packet: echo, router, timestamp, information, mask, extended echo. */
const OWN_ICMPV4_TYPES: ReadonlySet<number> = new Set([0, 8, 9, 10, 13, 14, 15, 16, 17, 18, 42, 43]);
/** Of ICMPv6 those from here on quote none, but the redirect. RFC 4443 section 2.1. */
const FIRST_OWN_ICMPV6_TYPE = 128;
const ICMPV6_REDIRECT = 137;
/** IP in IP, IPv6 in IPv4, GRE, ESP (its cipher may be none), minimal encapsulation, IPIP, EtherIP, ENCAP, IPComp, L2TPv3, MPLS: the addresses inside are others. */
const TUNNEL_PROTOCOLS: ReadonlySet<number> = new Set([4, 41, 47, 50, 55, 94, 97, 98, 108, 115, 137]);
/** L2TP, GTP-U, Teredo, LISP, ESP, GRE, VXLAN, CAPWAP, GUE, Geneve, MPLS, VXLAN before its port was assigned. */
const TUNNEL_PORTS: ReadonlySet<number> = new Set([1701, 2152, 3544, 4341, 4500, 4754, 4755, 4789, 4790, 5246, 5247, 6080, 6081, 6635, 8472]);
/** Service access points of protocols of switches and routers themselves: spanning tree, IS-IS. */
const CONTROL_ACCESS_POINTS: ReadonlySet<number> = new Set([0x42, 0xfe]);
/** Behind SNAP: CDP, VTP, DTP, UDLD, PVST+. */
const CISCO = 0x00_00_0c;

/** @param linkType What frames begin with; 1 is Ethernet. */
export function createPrivacyCut(privacy: CapturePrivacy, linkType = 1): PrivacyCut {
  const words = wordsOf(privacy);
  if (words === "") return { words, keptLength: ({ length }) => length };
  const networks = privacy.headersOnlyNetworks.flatMap((text) => parsePrefix(text) ?? []);
  return {
    words,
    keptLength(frame) {
      const bytes = frame.bytes.subarray(frame.offset, frame.offset + frame.length);
      const decoded = decodeFrame(bytes, { linkType: linkType as LinkType, wireLength: frame.wireLength });
      // What cannot be read cannot be judged: nothing of it is kept but where it stood.
      if (!decoded.ok) return Math.min(frame.length, ETHERNET_BYTES);
      const fields = decoded.value;
      const quote = quoteOf(fields);
      const isCut = privacy.headersOnly || concerns(fields, networks) || (quote !== null && (!quote.ok || concerns(quote.value, networks)));
      return isCut ? Math.min(frame.length, allHeaders(fields) + (quote?.ok ? quotedHeaders(quote.value) : 0)) : frame.length;
    },
  };
}

function wordsOf({ headersOnly, headersOnlyNetworks }: CapturePrivacy): string {
  if (headersOnly) return "Only headers were kept; payload was left out.";
  return headersOnlyNetworks.length === 0 ? "" : `From and to ${headersOnlyNetworks.join(", ")} only headers were kept; payload was left out.`;
}

/** Where what users say begins, or what an ICMP message quotes. ARP is a header as a whole. */
function allHeaders(fields: Frame): number {
  const { network, networkEnd, payloadOffset, transport, icmpType } = fields;
  if (network === "arp") return networkEnd;
  if (network === "llc") return payloadOffset + llcHeader(fields);
  if (transport !== "icmpv4" && transport !== "icmpv6") return payloadOffset;
  return payloadOffset + ICMP_REST_BYTES + (transport === "icmpv6" && icmpType === ICMPV6_REDIRECT ? REDIRECT_BYTES : 0);
}

/** The packet that an ICMP error quotes, which others may have sent than the error's ends; null where nothing is quoted. */
function quoteOf({ transport, icmpType, bytes, payloadOffset, payloadEnd }: Frame): Decoded<Frame> | null {
  if (transport !== "icmpv4" && transport !== "icmpv6") return null;
  // Its options quote, and stand in any order: nothing of them is kept.
  if (transport === "icmpv6" && icmpType === ICMPV6_REDIRECT) return { ok: false, code: "bad-value", layer: "redirect", offset: payloadOffset };
  if (transport === "icmpv6" ? icmpType >= FIRST_OWN_ICMPV6_TYPE : OWN_ICMPV4_TYPES.has(icmpType)) return null;
  const quoted = bytes.subarray(payloadOffset + ICMP_REST_BYTES, payloadEnd);
  return decodeFrame(quoted, { linkType: transport === "icmpv4" ? LINK_TYPE.rawIpv4 : LINK_TYPE.rawIpv6, wireLength: Number.MAX_SAFE_INTEGER });
}

/** Of a quoted TCP header mostly the first eight bytes are there. */
function quotedHeaders(quote: Frame): number {
  return allHeaders(quote) + (quote.transport === "other" && quote.ipProtocol === IP_PROTOCOL.tcp ? QUOTED_BYTES : 0);
}

function llcHeader({ networkBytes }: Frame): number {
  const llc = decodeLlc(networkBytes);
  return llc.ok ? networkBytes.length - llc.value.payload.length : 0;
}

/** Whether an end of the frame lies in the networks, or may: inside of a tunnel are other addresses than outside. */
function concerns(fields: Frame, networks: readonly AddressPrefix[]): boolean {
  if (fields.network === "arp" || fields.etherType === ETHER_TYPE.lldp) return false;
  if (fields.network === "llc") return !isControl(fields);
  const { bytes, sourceIpOffset, ipLength } = fields;
  if (ipLength === 0 || isTunnel(fields)) return true;
  return networks.some((network) =>
    prefixHolds(network, bytes, sourceIpOffset, ipLength) || prefixHolds(network, bytes, sourceIpOffset + ipLength, ipLength));
}

/** What switches tell each other. All else may be IP, or carry it. */
function isControl({ networkBytes }: Frame): boolean {
  const llc = decodeLlc(networkBytes);
  if (!llc.ok) return false;
  return llc.value.snap === null ? CONTROL_ACCESS_POINTS.has(llc.value.destinationServiceAccessPoint) : llc.value.snap.organization === CISCO;
}

/** Of a later fragment of UDP nobody knows the ports. */
function isTunnel(fields: Frame): boolean {
  if (TUNNEL_PROTOCOLS.has(fields.ipProtocol)) return true;
  if (fields.ipProtocol !== IP_PROTOCOL.udp) return false;
  return fields.transport === "none" || TUNNEL_PORTS.has(fields.sourcePort) || TUNNEL_PORTS.has(fields.destinationPort);
}
