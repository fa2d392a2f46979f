/** Frames that a scan asks with, written straight into the sender's memory: everything that stays the same is put together once. */
import { checksumOf, putWord, putWords, sumOfWords } from "./frame-words.ts";
import {
  type PacketSource, ECHO_DATA, type HostTarget, MSS_OPTION, type TcpSegment, TIME_TO_LIVE, type UdpDatagram, WINDOW, type Writer,
} from "./packet.ts";
import { createEchoWriter6, createTcpWriter6, createUdpWriter6 } from "./packet-writers-ipv6.ts";

const ETHERNET_OCTETS = 14;
const IPV4_OCTETS = 20;

/** @see RFC 826 */
export function createArpWriter({ mac, ip }: Pick<PacketSource, "mac" | "ip">): (bytes: Uint8Array, at: number, target: number) => number {
  const template = new Uint8Array(42);
  template.fill(0xff, 0, 6);
  template.set(mac, 6);
  template.set([0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1], 12);
  template.set(mac, 22);
  putWords(template, 28, ip);
  return (bytes, at, target) => {
    bytes.set(template, at);
    putWords(bytes, at + 38, target);
    return template.length;
  };
}

/** @see RFC 791 section 3.1, RFC 9293 section 3.1 */
export function createTcpWriter(source: PacketSource): Writer<TcpSegment> {
  if (source.address6) return createTcpWriter6({ ...source, address6: source.address6 });
  const headerOctets = 20 + MSS_OPTION.length;
  const { template, ipSum, pseudoSum } = ipv4Template(source, 6, headerOctets);
  const whole = new Uint8Array(ETHERNET_OCTETS + IPV4_OCTETS + headerOctets);
  whole.set(template);
  putWord(whole, 34, source.port);
  whole[46] = (headerOctets / 4) << 4;
  putWord(whole, 48, WINDOW);
  whole.set(MSS_OPTION, 54);
  const fixedSum = pseudoSum + source.port + ((headerOctets / 4) << 12) + WINDOW + 0x0204 + 0x05b4;
  return (bytes, at, { ip, mac }, { port, flags, sequence, acknowledgment }) => {
    bytes.set(whole, at);
    putTarget(bytes, at, { ip, mac, ipSum });
    putWord(bytes, at + 36, port);
    putWords(bytes, at + 38, sequence);
    putWords(bytes, at + 42, acknowledgment);
    bytes[at + 47] = flags;
    const sum = fixedSum + flags + (ip >>> 16) + (ip & 0xffff) + port + (sequence >>> 16) + (sequence & 0xffff);
    putWord(bytes, at + 50, checksumOf(sum + (acknowledgment >>> 16) + (acknowledgment & 0xffff)));
    return whole.length;
  };
}

/** A UDP datagram. @param payload At most 578 octets. @see RFC 768 */
export function createUdpWriter(source: PacketSource): Writer<UdpDatagram> {
  if (source.address6) return createUdpWriter6({ ...source, address6: source.address6 });
  return (bytes, at, { ip, mac }, { port, payload }) => {
    const length = 8 + payload.length;
    const { template, ipSum, pseudoSum } = ipv4Template(source, 17, length);
    bytes.set(template, at);
    putTarget(bytes, at, { ip, mac, ipSum });
    putWord(bytes, at + 34, source.port);
    putWord(bytes, at + 36, port);
    putWord(bytes, at + 38, length);
    putWord(bytes, at + 40, 0);
    bytes.set(payload, at + 42);
    const sum = pseudoSum + (ip >>> 16) + (ip & 0xffff) + source.port + port + length + sumOfWords(payload);
    // Zero would mean "no checksum".
    putWord(bytes, at + 40, checksumOf(sum) || 0xffff);
    return ETHERNET_OCTETS + IPV4_OCTETS + length;
  };
}

/** An echo request, whose answer brings the sequence number back. @see RFC 792, RFC 4443 section 4.1 */
export function createEchoWriter(source: PacketSource): Writer<number> {
  if (source.address6) return createEchoWriter6({ ...source, address6: source.address6 });
  return createIcmpWriter(source, ECHO_REQUEST, ECHO_DATA);
}

/** An ICMP timestamp request: some firewalls drop echo requests only. @see RFC 792 */
export function createTimestampWriter(source: PacketSource): Writer<number> {
  return createIcmpWriter(source, TIMESTAMP_REQUEST, new Uint8Array(12));
}

const ECHO_REQUEST = 8;
const TIMESTAMP_REQUEST = 13;

function createIcmpWriter(source: PacketSource, type: number, data: Uint8Array): Writer<number> {
  const { template, ipSum } = ipv4Template(source, 1, 8 + data.length);
  const fixedSum = (type << 8) + source.port + sumOfWords(data);
  return (bytes, at, { ip, mac }, sequence) => {
    bytes.set(template, at);
    putTarget(bytes, at, { ip, mac, ipSum });
    bytes.set([type, 0, 0, 0], at + 34);
    putWord(bytes, at + 38, source.port);
    putWord(bytes, at + 40, sequence);
    bytes.set(data, at + 42);
    putWord(bytes, at + 36, checksumOf(fixedSum + sequence));
    return template.length;
  };
}

function ipv4Template({ mac, ip }: PacketSource, protocol: number, payloadOctets: number): {
  readonly template: Uint8Array; readonly ipSum: number; readonly pseudoSum: number;
} {
  const template = new Uint8Array(ETHERNET_OCTETS + IPV4_OCTETS + (protocol === 1 ? payloadOctets : 0));
  template.set(mac, 6);
  // Don't Fragment: without it a header needs an identification of its own. @see RFC 6864
  template.set([0x08, 0, 0x45, 0, 0, 0, 0, 0, 0x40, 0, TIME_TO_LIVE, protocol], 12);
  putWord(template, 16, IPV4_OCTETS + payloadOctets);
  putWords(template, 26, ip);
  const ends = (ip >>> 16) + (ip & 0xffff);
  return {
    template,
    ipSum: 0x4500 + IPV4_OCTETS + payloadOctets + 0x4000 + (TIME_TO_LIVE << 8) + protocol + ends,
    pseudoSum: ends + protocol + payloadOctets,
  };
}

function putTarget(bytes: Uint8Array, at: number, { ip, mac, ipSum }: HostTarget & { readonly ipSum: number }): void {
  bytes.set(mac, at);
  putWord(bytes, at + 24, checksumOf(ipSum + (ip >>> 16) + (ip & 0xffff)));
  putWords(bytes, at + 30, ip);
}
