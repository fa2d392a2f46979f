import { IPV4_LENGTH } from "./addresses.ts";
import { PacketsError } from "./errors.ts";

/** What the bytes of an address say by themselves. Each `mac` is six bytes. */

/** To many: the group bit is set. Broadcast is multicast too. @see IEEE 802-2014 8.2.2 */
export function isMulticastMac(mac: Uint8Array): boolean {
  return ((mac[0] as number) & 0x01) !== 0;
}

/** To everyone on the link. */
export function isBroadcastMac(mac: Uint8Array): boolean {
  return mac.length === 6 && mac.every((byte) => byte === 0xff);
}

/**
 * The local bit is set: no manufacturer's address. It does not mean random: QEMU's 52:54:00 has it, and a virtual
 * machine keeps its own for life.
 * @see IEEE 802-2014 8.2.2
 */
export function isLocallyAdministeredMac(mac: Uint8Array): boolean {
  return ((mac[0] as number) & 0x02) !== 0;
}

/** Which protocol made a MAC that several routers share. CARP uses VRRP's range. */
export type VirtualRouterProtocol = "vrrp" | "hsrp" | "glbp";

interface VirtualRouterRange {
  readonly protocol: VirtualRouterProtocol;
  readonly prefix: readonly number[];
  readonly bits: number;
}

/** First bytes of the MACs that redundant gateways share, each with how many bits of them count. */
const VIRTUAL_ROUTERS: readonly VirtualRouterRange[] = [
  // RFC 9568 section 7.3: IPv4, then IPv6.
  { protocol: "vrrp", prefix: [0x00, 0x00, 0x5e, 0x00, 0x01], bits: 40 },
  { protocol: "vrrp", prefix: [0x00, 0x00, 0x5e, 0x00, 0x02], bits: 40 },
  // RFC 2281 section 5.4.
  { protocol: "hsrp", prefix: [0x00, 0x00, 0x0c, 0x07, 0xac], bits: 40 },
  // Version 2: twelve bits of group; IPv4, then IPv6.
  { protocol: "hsrp", prefix: [0x00, 0x00, 0x0c, 0x9f, 0xf0], bits: 36 },
  { protocol: "hsrp", prefix: [0x00, 0x05, 0x73, 0xa0, 0x00], bits: 36 },
  // 00:07:b4:0x:xx:yy: ten bits of group, eight of forwarder.
  { protocol: "glbp", prefix: [0x00, 0x07, 0xb4], bits: 24 },
];

/** The protocol whose virtual MAC this is, or null for a MAC of one interface. Two hosts with one such MAC are no conflict. */
export function virtualRouterProtocol(mac: Uint8Array): VirtualRouterProtocol | null {
  return VIRTUAL_ROUTERS.find(({ prefix, bits }) => startsWith(mac, prefix, bits))?.protocol ?? null;
}

/** True for the shared MAC of redundant gateways: inventory, never spoofing. */
export function isVirtualRouterMac(mac: Uint8Array): boolean {
  return virtualRouterProtocol(mac) !== null;
}

/** True for IPv4 224.0.0.0/4 and IPv6 ff00::/8. */
export function isMulticastIp(ip: Uint8Array): boolean {
  return ip.length === IPV4_LENGTH ? (ip[0] as number) >>> 4 === 0xe : ip[0] === 0xff;
}

/** True for 0.0.0.0 and ::, which a sender without an address uses. */
export function isUnspecifiedIp(ip: Uint8Array): boolean {
  for (let at = 0; at < ip.length; at += 1) if (ip[at] !== 0) return false;
  return true;
}

/** True for 169.254.0.0/16 and fe80::/10: valid on one link only. */
export function isLinkLocalIp(ip: Uint8Array): boolean {
  if (ip.length === IPV4_LENGTH) return ip[0] === 169 && ip[1] === 254;
  return ip[0] === 0xfe && ((ip[1] as number) & 0xc0) === 0x80;
}

/** The multicast address at which a host hears solicitations for its IPv6 address. @see RFC 4291 section 2.7.1 */
export function solicitedNodeAddress(target: Uint8Array): Uint8Array {
  if (target.length !== 16) throw new PacketsError(`an IPv6 address has 16 bytes, not ${target.length}`);
  const address = Uint8Array.of(0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff, 0, 0, 0);
  address.set(target.subarray(13), 13);
  return address;
}

/**
 * The MAC to which frames for a multicast group go.
 * @throws PacketsError when `ip` is no multicast address.
 * @see RFC 1112 section 6.4, RFC 2464 section 7
 */
export function multicastMac(ip: Uint8Array): Uint8Array {
  if (!isMulticastIp(ip)) throw new PacketsError("only a multicast address has a multicast MAC");
  if (ip.length === IPV4_LENGTH) return Uint8Array.of(0x01, 0x00, 0x5e, (ip[1] as number) & 0x7f, ip[2] as number, ip[3] as number);
  return Uint8Array.of(0x33, 0x33, ip[12] as number, ip[13] as number, ip[14] as number, ip[15] as number);
}

function startsWith(mac: Uint8Array, prefix: readonly number[], bits: number): boolean {
  return prefix.every((byte, index) => {
    const counted = Math.min(8, bits - index * 8);
    return (mac[index] as number) >>> (8 - counted) === byte >>> (8 - counted);
  });
}
