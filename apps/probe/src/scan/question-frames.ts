/** Frames that a scan asks with, written straight into the sender's memory: everything that stays the same is put together once. */

/** Where a host is reached: its IPv4 address, and the MAC that frames for it go to (a router's where it is not on the link). */
export interface HostTarget {
  readonly ip: number;
  /** Six bytes. */
  readonly mac: Uint8Array;
}

/** Who asks. */
export interface Asker {
  /** Six bytes. */
  readonly mac: Uint8Array;
  readonly ip: number;
  readonly port: number;
}

const ETHERNET_OCTETS = 14;
const IPV4_OCTETS = 20;
export const TCP_SYN = 0x02;
export const TCP_RST = 0x04;
/** A common size, so that the SYN looks like anybody's. */
const WINDOW = 64_240;
/** Maximum segment size, 1460. @see RFC 9293 section 3.2 */
const MSS_OPTION = [2, 4, 0x05, 0xb4] as const;
const TIME_TO_LIVE = 64;

/** @see RFC 826 */
export function createArpWriter({ mac, ip }: Pick<Asker, "mac" | "ip">): (bytes: Uint8Array, at: number, target: number) => number {
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

export interface TcpQuestion {
  readonly port: number;
  readonly flags: number;
  readonly sequence: number;
  readonly acknowledgment: number;
}

/** @see RFC 791 section 3.1, RFC 9293 section 3.1 */
export function createTcpWriter(asker: Asker): (bytes: Uint8Array, at: number, target: HostTarget, question: TcpQuestion) => number {
  const headerOctets = 20 + MSS_OPTION.length;
  const { template, ipSum, pseudoSum } = ipv4Template(asker, 6, headerOctets);
  const whole = new Uint8Array(ETHERNET_OCTETS + IPV4_OCTETS + headerOctets);
  whole.set(template);
  putWord(whole, 34, asker.port);
  whole[46] = (headerOctets / 4) << 4;
  putWord(whole, 48, WINDOW);
  whole.set(MSS_OPTION, 54);
  const fixedSum = pseudoSum + asker.port + ((headerOctets / 4) << 12) + WINDOW + 0x0204 + 0x05b4;
  return (bytes, at, { ip, mac }, { port, flags, sequence, acknowledgment }) => {
    bytes.set(whole, at);
    putTarget(bytes, at, { ip, mac, ipSum });
    putWord(bytes, at + 36, port);
    putWords(bytes, at + 38, sequence);
    putWords(bytes, at + 42, acknowledgment);
    bytes[at + 47] = flags;
    const sum = fixedSum + flags + (ip >>> 16) + (ip & 0xffff) + port + (sequence >>> 16) + (sequence & 0xffff);
    putWord(bytes, at + 50, fold(sum + (acknowledgment >>> 16) + (acknowledgment & 0xffff)));
    return whole.length;
  };
}

/** A UDP datagram. @param payload At most 400 octets. @see RFC 768 */
export function createUdpWriter(
  asker: Asker,
): (bytes: Uint8Array, at: number, target: HostTarget, question: { readonly port: number; readonly payload: Uint8Array }) => number {
  return (bytes, at, { ip, mac }, { port, payload }) => {
    const length = 8 + payload.length;
    const { template, ipSum, pseudoSum } = ipv4Template(asker, 17, length);
    bytes.set(template, at);
    putTarget(bytes, at, { ip, mac, ipSum });
    putWord(bytes, at + 34, asker.port);
    putWord(bytes, at + 36, port);
    putWord(bytes, at + 38, length);
    putWord(bytes, at + 40, 0);
    bytes.set(payload, at + 42);
    const sum = pseudoSum + (ip >>> 16) + (ip & 0xffff) + asker.port + port + length + wordsOf(payload);
    // Zero would mean "no checksum".
    putWord(bytes, at + 40, fold(sum) || 0xffff);
    return ETHERNET_OCTETS + IPV4_OCTETS + length;
  };
}

/** An ICMP echo request. @see RFC 792 */
export function createEchoWriter(asker: Asker): (bytes: Uint8Array, at: number, target: HostTarget, sequence: number) => number {
  const { template, ipSum } = ipv4Template(asker, 1, 8 + ECHO_DATA.length);
  return (bytes, at, { ip, mac }, sequence) => {
    bytes.set(template, at);
    putTarget(bytes, at, { ip, mac, ipSum });
    bytes.set([8, 0, 0, 0], at + 34);
    putWord(bytes, at + 38, asker.port);
    putWord(bytes, at + 40, sequence);
    bytes.set(ECHO_DATA, at + 42);
    putWord(bytes, at + 36, fold(0x0800 + asker.port + sequence + wordsOf(ECHO_DATA)));
    return template.length;
  };
}

/** Some firewalls drop an echo request without data. */
const ECHO_DATA = Uint8Array.from({ length: 32 }, (_, index) => 0x61 + (index % 23));

function ipv4Template({ mac, ip }: Asker, protocol: number, payloadOctets: number): {
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
  putWord(bytes, at + 24, fold(ipSum + (ip >>> 16) + (ip & 0xffff)));
  putWords(bytes, at + 30, ip);
}

function wordsOf(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += ((bytes[at] as number) << 8) | (bytes[at + 1] ?? 0);
  return sum;
}

/** @see RFC 1071 */
function fold(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded & 0xffff) + (folded >>> 16);
  return ~folded & 0xffff;
}

function putWord(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

function putWords(bytes: Uint8Array, at: number, value: number): void {
  putWord(bytes, at, value >>> 16);
  putWord(bytes, at + 2, value & 0xffff);
}
