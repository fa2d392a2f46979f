import { decodeFrame, isTunnelSign, MAX_ENCAPSULATIONS, unwrapFrame, type Frame } from "@lanthorn/packets";
import type { HeaderView } from "../ring/frame-headers.ts";

/** What of a frame, or of a packet inside of it, has addresses. */
export type AddressView = Pick<HeaderView, "bytes" | "offset" | "length" | "kind" | "networkAt">;

/** Where the protocol of IP, and behind its shortest header the ports, lie. @see RFC 791, RFC 8200 */
const IPV4_PROTOCOL = 9;
const IPV6_NEXT = 6;
const IPV6_OCTETS = 40;
const ARP_OCTETS = 28;
const ETHERNET_OCTETS = 14;
/** Behind a tag anything may come. */
const VLAN_TYPES: ReadonlySet<number> = new Set([0x8100, 0x88a8, 0x9100]);
const UDP = 17;
const TCP = 6;
const ICMP = 1;
const ICMPV6 = 58;

const NOTHING: readonly AddressView[] = [];

/**
 * What is inside of a frame's tunnels, to be held against any number of filters. What is inside of fragments is not seen.
 * @returns The outermost first; none for a frame without a tunnel, which costs some nanoseconds.
 */
export function packetsInside(frame: HeaderView): readonly AddressView[] {
  if (!mayBeTunnel(frame)) return NOTHING;
  const bytes = frame.bytes.subarray(frame.offset, frame.offset + frame.length);
  const decoded = decodeFrame(bytes, { wireLength: frame.wireLength });
  if (!decoded.ok) return NOTHING;
  const packets: AddressView[] = [];
  let unwrapped = unwrapFrame(decoded.value);
  for (let depth = 0; depth < MAX_ENCAPSULATIONS && unwrapped?.ok === true; depth += 1) {
    packets.push(viewOf(bytes, unwrapped.frame));
    unwrapped = unwrapFrame(unwrapped.frame);
  }
  return packets;
}

function mayBeTunnel({ bytes, offset, length, kind, networkAt }: HeaderView): boolean {
  switch (kind) {
    case "ipv4":
      return isTunnelIn(bytes, bytes[networkAt + IPV4_PROTOCOL] as number, networkAt + 4 * ((bytes[networkAt] as number) & 0x0f), offset + length);
    case "ipv6":
      return isTunnelIn(bytes, bytes[networkAt + IPV6_NEXT] as number, networkAt + IPV6_OCTETS, offset + length);
    case "arp":
      return false;
    case "none": {
      const type = length >= ETHERNET_OCTETS ? bytes.readUInt16BE(offset + ETHERNET_OCTETS - 2) : 0;
      return VLAN_TYPES.has(type) || isTunnelSign("ether-type", type);
    }
    default:
      return kind satisfies never;
  }
}

/** Behind the extension headers of IPv6 there may be one too. */
function isTunnelIn(bytes: Buffer, protocol: number, transportAt: number, end: number): boolean {
  if (protocol === TCP || protocol === ICMP || protocol === ICMPV6) return false;
  if (protocol !== UDP) return true;
  return transportAt + 4 <= end && (isTunnelSign("udp-port", bytes.readUInt16BE(transportAt + 2)) || isTunnelSign("udp-port", bytes.readUInt16BE(transportAt)));
}

/** @param bytes What the packet was decoded from. */
function viewOf(bytes: Buffer, inner: Frame): AddressView {
  const { network, networkOffset, networkEnd, destinationMacOffset } = inner;
  const isRead = network === "ipv4" || network === "ipv6" || (network === "arp" && networkEnd - networkOffset >= ARP_OCTETS && isArpOfIpv4(bytes, networkOffset));
  const offset = Math.max(0, destinationMacOffset);
  return { bytes, offset, length: bytes.length - offset, kind: isRead ? network : "none", networkAt: isRead ? networkOffset : 0 };
}

/** @see RFC 826 */
function isArpOfIpv4(bytes: Buffer, at: number): boolean {
  return bytes.readUInt16BE(at) === 1 && bytes.readUInt16BE(at + 2) === 0x0800 && bytes[at + 4] === 6 && bytes[at + 5] === 4;
}
