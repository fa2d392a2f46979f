/** The questions of `packet-writers.ts` over IPv6. @see RFC 8200 */
import { multicastMac, solicitedNodeAddress } from "@lanthorn/packets";
import { checksumOf, putWord, putWords, sumOfWords } from "./frame-words.ts";
import {
  type PacketSource, ECHO_DATA, type HostTarget, MSS_OPTION, type TcpSegment, TIME_TO_LIVE, type UdpDatagram, WINDOW, type Writer,
} from "./packet.ts";

type PacketSource6 = PacketSource & { readonly address6: Uint8Array };

const PAYLOAD_AT = 54;
const NO_ADDRESS = new Uint8Array(16);
const TCP = 6;
const UDP = 17;
const ICMPV6 = 58;
const ECHO_REQUEST = 128;
const NEIGHBOR_SOLICITATION = 135;
/** Neighbor Discovery is taken from the own link only. @see RFC 4861 section 7.1.1 */
const NDP_HOP_LIMIT = 255;
/** Source link-layer address, of one unit of eight octets. @see RFC 4861 section 4.6.1 */
const SOURCE_OPTION = [1, 1] as const;

/** @see RFC 9293 section 3.1 */
export function createTcpWriter6(source: PacketSource6): Writer<TcpSegment> {
  const octets = 20 + MSS_OPTION.length;
  const { putHeader } = ipv6Header(source, TCP, octets);
  return (bytes, at, target, { port, flags, sequence, acknowledgment }) => {
    const sum = putHeader(bytes, at, target);
    const tcp = at + PAYLOAD_AT;
    putWord(bytes, tcp, source.port);
    putWord(bytes, tcp + 2, port);
    putWords(bytes, tcp + 4, sequence);
    putWords(bytes, tcp + 8, acknowledgment);
    bytes.set([(octets / 4) << 4, flags], tcp + 12);
    putWord(bytes, tcp + 14, WINDOW);
    putWords(bytes, tcp + 16, 0);
    bytes.set(MSS_OPTION, tcp + 20);
    return putChecksum(bytes, { at: tcp, field: tcp + 16, octets, sum });
  };
}

/** @param payload At most 578 octets. @see RFC 768, RFC 8200 section 8.1 */
export function createUdpWriter6(source: PacketSource6): Writer<UdpDatagram> {
  return (bytes, at, target, { port, payload }) => {
    const octets = 8 + payload.length;
    const sum = ipv6Header(source, UDP, octets).putHeader(bytes, at, target);
    const udp = at + PAYLOAD_AT;
    putWord(bytes, udp, source.port);
    putWord(bytes, udp + 2, port);
    putWord(bytes, udp + 4, octets);
    putWord(bytes, udp + 6, 0);
    bytes.set(payload, udp + 8);
    return putChecksum(bytes, { at: udp, field: udp + 6, octets, sum });
  };
}

/** @see RFC 4443 section 4.1 */
export function createEchoWriter6(source: PacketSource6): Writer<number> {
  const octets = 8 + ECHO_DATA.length;
  const { putHeader } = ipv6Header(source, ICMPV6, octets);
  return (bytes, at, target, sequence) => {
    const sum = putHeader(bytes, at, target);
    const icmp = at + PAYLOAD_AT;
    bytes.set([ECHO_REQUEST, 0, 0, 0], icmp);
    putWord(bytes, icmp + 4, source.port);
    putWord(bytes, icmp + 6, sequence);
    bytes.set(ECHO_DATA, icmp + 8);
    return putChecksum(bytes, { at: icmp, field: icmp + 2, octets, sum });
  };
}

/** Asks everyone who has an address. @see RFC 4861 section 4.3 */
export function createSolicitationWriter(source: PacketSource6): (bytes: Uint8Array, at: number, address: Uint8Array) => number {
  const octets = 32;
  const { putHeader } = ipv6Header(source, ICMPV6, octets, NDP_HOP_LIMIT);
  return (bytes, at, address) => {
    const group = solicitedNodeAddress(address);
    const sum = putHeader(bytes, at, { ip: 0, address6: group, mac: multicastMac(group) });
    const icmp = at + PAYLOAD_AT;
    bytes.set([NEIGHBOR_SOLICITATION, 0, 0, 0, 0, 0, 0, 0], icmp);
    bytes.set(address, icmp + 8);
    bytes.set([...SOURCE_OPTION, ...source.mac], icmp + 24);
    return putChecksum(bytes, { at: icmp, field: icmp + 2, octets, sum });
  };
}

/** @returns What writes the Ethernet and IPv6 headers, and gives back the sum of the pseudo-header. @see RFC 8200 section 8.1 */
function ipv6Header({ mac, address6 }: PacketSource6, protocol: number, octets: number, hopLimit: number = TIME_TO_LIVE) {
  const template = new Uint8Array(PAYLOAD_AT);
  template.set(mac, 6);
  template.set([0x86, 0xdd, 0x60], 12);
  putWord(template, 18, octets);
  template.set([protocol, hopLimit], 20);
  template.set(address6, 22);
  const fixedSum = sumOfWords(address6) + octets + protocol;
  return {
    putHeader(bytes: Uint8Array, at: number, target: HostTarget): number {
      const destination = target.address6 ?? NO_ADDRESS;
      bytes.set(template, at);
      bytes.set(target.mac, at);
      bytes.set(destination, at + 38);
      return fixedSum + sumOfWords(destination);
    },
  };
}

/** @param part.field Where the checksum is; it is zero before. @returns The whole frame's length. */
function putChecksum(
  bytes: Uint8Array, part: { readonly at: number; readonly field: number; readonly octets: number; readonly sum: number },
): number {
  const checksum = checksumOf(part.sum + sumOfWords(bytes.subarray(part.at, part.at + part.octets)));
  // Zero would mean "no checksum" to UDP; the others' never is it.
  putWord(bytes, part.field, checksum || 0xffff);
  return PAYLOAD_AT + part.octets;
}
