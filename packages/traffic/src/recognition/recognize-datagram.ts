/** Which protocol a datagram speaks, by its bytes; ports are not asked. */
import { DHCPV6_OPTION, DHCPV6_TYPE, Reader } from "@lanthorn/packets";
import { recognizeDns } from "./recognize-dns.ts";

/** Protocols of datagrams that have a parser. */
export type DatagramService = "dhcp" | "dhcpv6" | "dns" | "quic" | "snmp";

/** @returns The protocol, or nothing (`""`). */
export function recognizeDatagram(bytes: Uint8Array): DatagramService | "" {
  if (isQuicInitial(bytes)) return "quic";
  if (isDhcp(bytes)) return "dhcp";
  if (isSnmp(bytes)) return "snmp";
  if (isDhcpv6(bytes)) return "dhcpv6";
  return recognizeDns(bytes) === "yes" ? "dns" : "";
}

/** QUIC's versions 1 and 2. @see RFC 9000 section 15, RFC 9369 section 3.1 */
export const QUIC_VERSION = { v1: 0x00000001, v2: 0x6b3343cf } as const;

/** The long header of an Initial packet. @see RFC 9000 section 17.2 */
function isQuicInitial(bytes: Uint8Array): boolean {
  const [first = 0] = bytes;
  if (first < 0x80 || bytes.length < 64) return false;
  const reader = new Reader(bytes, 1);
  const version = reader.u32();
  const initial = version === QUIC_VERSION.v1 ? 0x00 : version === QUIC_VERSION.v2 ? 0x10 : -1;
  return initial === (first & 0x30) && reader.u8() <= 20;
}

/** @see RFC 2131 sections 2 and 3 */
function isDhcp(bytes: Uint8Array): boolean {
  const [op, , hlen = 255] = bytes;
  if (bytes.length < 240 || (op !== 1 && op !== 2) || hlen > 16) return false;
  return bytes[236] === 0x63 && bytes[237] === 0x82 && bytes[238] === 0x53 && bytes[239] === 0x63;
}

/** Options that fill the datagram, one of which names a client or a server, or holds a relayed message. @see RFC 8415 sections 8, 9 and 11 */
function isDhcpv6(bytes: Uint8Array): boolean {
  const [type = 0] = bytes;
  if (type === 0 || type > DHCPV6_TYPE.relayReply || bytes.length < 10) return false;
  const isRelayed = type >= DHCPV6_TYPE.relayForward;
  const reader = new Reader(bytes);
  reader.skip(isRelayed ? 34 : 4);
  let isNamed = false;
  while (reader.remaining > 0 && !reader.failed) {
    const code = reader.u16();
    const data = reader.take(reader.u16());
    if (code === 0 || code > 0xff) return false;
    const isDuid = (code === DHCPV6_OPTION.clientId || code === DHCPV6_OPTION.serverId) && data.length >= 3 && data[0] === 0 && (data[1] ?? 0) <= 4;
    isNamed ||= isRelayed ? code === DHCPV6_OPTION.relayMessage : isDuid;
  }
  return isNamed && !reader.failed;
}

/** A sequence that begins with the version. @see RFC 3416, RFC 3412 section 6 */
function isSnmp(bytes: Uint8Array): boolean {
  if (bytes[0] !== 0x30 || bytes.length < 16) return false;
  const length = bytes[1] as number;
  const at = length < 0x80 ? 2 : length <= 0x84 ? 2 + (length & 0x7f) : -1;
  if (at < 0 || bytes[at] !== 0x02 || bytes[at + 1] !== 0x01) return false;
  const version = bytes[at + 2];
  if (version === 3) return bytes[at + 3] === 0x30;
  return (version === 0 || version === 1) && bytes[at + 3] === 0x04;
}
