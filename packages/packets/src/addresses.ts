import { PacketsError } from "./errors.ts";

/** Character codes of lower-case hexadecimal digits. */
const DIGITS = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
const COLON = 0x3a;

/** In bytes. @see IEEE 802-2014 clause 8 */
export const MAC_LENGTH = 6;
/** In bytes. @see RFC 791 section 3.1 */
export const IPV4_LENGTH = 4;
/** In bytes. @see RFC 4291 section 2 */
export const IPV6_LENGTH = 16;

/** To everyone on the link. */
export const BROADCAST_MAC: Readonly<Uint8Array> = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff);

/**
 * Six lower-case hexadecimal pairs with colons.
 * @param offset Where in `bytes` the address begins, so that no view is needed.
 * @throws PacketsError when fewer than six bytes are there.
 */
export function formatMac(bytes: Uint8Array, offset = 0): string {
  requireBytes(bytes, offset, MAC_LENGTH);
  const high = (at: number) => DIGITS[(bytes[offset + at] as number) >>> 4] as number;
  const low = (at: number) => DIGITS[(bytes[offset + at] as number) & 15] as number;
  // In one piece: put together part by part it takes four times as long, and four times the memory until somebody reads it.
  return String.fromCharCode(
    high(0), low(0), COLON, high(1), low(1), COLON, high(2), low(2), COLON, high(3), low(3), COLON, high(4), low(4), COLON, high(5), low(5),
  );
}

/** Reads six hexadecimal pairs joined by colons or hyphens, or twelve digits alone. @returns Six bytes, or null for other text. */
export function parseMac(text: string): Uint8Array | null {
  const match = /^([0-9a-f]{2})([:-]?)([0-9a-f]{2})\2([0-9a-f]{2})\2([0-9a-f]{2})\2([0-9a-f]{2})\2([0-9a-f]{2})$/i.exec(text);
  if (!match) return null;
  const pairs = [match[1], ...match.slice(3)] as string[];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

/** Dotted decimal. @throws PacketsError when fewer than four bytes are there. */
export function formatIpv4(bytes: Uint8Array, offset = 0): string {
  requireBytes(bytes, offset, IPV4_LENGTH);
  return `${bytes[offset]}.${bytes[offset + 1]}.${bytes[offset + 2]}.${bytes[offset + 3]}`;
}

/** Reads dotted decimal: four numbers up to 255 without leading zeros, which some systems read as octal. @returns Four bytes, or null. */
export function parseIpv4(text: string): Uint8Array | null {
  if (!/^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/.test(text)) return null;
  const numbers = text.split(".").map(Number);
  return numbers.some((number) => number > 255) ? null : Uint8Array.from(numbers);
}

/**
 * The one recommended spelling: lower case, no leading zeros, the first longest run of two or more zero groups as `::`,
 * IPv4-mapped addresses with a dotted end.
 * @throws PacketsError when fewer than sixteen bytes are there.
 * @see RFC 5952 sections 4 and 5
 */
export function formatIpv6(bytes: Uint8Array, offset = 0): string {
  requireBytes(bytes, offset, IPV6_LENGTH);
  const run = longestZeroRun(bytes, offset);
  if (run.start === 0 && run.length === 5 && groupAt(bytes, offset, 5) === 0xffff) return `::ffff:${formatIpv4(bytes, offset + 12)}`;
  if (run.length < 2) return joinGroups(bytes, offset, { from: 0, to: GROUPS });
  return `${joinGroups(bytes, offset, { from: 0, to: run.start })}::${joinGroups(bytes, offset, { from: run.start + run.length, to: GROUPS })}`;
}

/**
 * Reads any spelling of RFC 4291 section 2.2, a dotted end included; no zone and no prefix length.
 * @returns Sixteen bytes, or null.
 */
export function parseIpv6(text: string): Uint8Array | null {
  // The longest spelling has 45 characters; a longer text is not worth splitting.
  if (text.length > 45) return null;
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const front = parseGroups(halves[0] as string, halves.length === 1);
  const back = halves.length === 2 ? parseGroups(halves[1] as string, true) : [];
  if (!front || !back) return null;
  const missing = 8 - front.length - back.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const bytes = new Uint8Array(IPV6_LENGTH);
  const groups = [...front, ...Array.from({ length: missing }, () => 0), ...back];
  for (const [index, group] of groups.entries()) {
    bytes[index * 2] = group >>> 8;
    bytes[index * 2 + 1] = group;
  }
  return bytes;
}

/** The text of an address of four or sixteen bytes. @throws PacketsError for another length. */
export function formatIp(bytes: Uint8Array): string {
  if (bytes.length === IPV4_LENGTH) return formatIpv4(bytes);
  if (bytes.length === IPV6_LENGTH) return formatIpv6(bytes);
  throw new PacketsError(`an IP address has 4 or 16 bytes, not ${bytes.length}`);
}

/** Reads an address of either family. @returns Four or sixteen bytes, or null. */
export function parseIp(text: string): Uint8Array | null {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/** @returns The address without the interface by which this machine alone knows it, as in `fe80::1%eth0`. @see RFC 4007 section 11 */
export function withoutZone(address: string): string {
  const zone = address.indexOf("%");
  return zone < 0 ? address : address.slice(0, zone);
}

/** True when both hold the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

function requireBytes(bytes: Uint8Array, offset: number, length: number): void {
  if (offset >= 0 && offset + length <= bytes.length) return;
  throw new PacketsError(`an address of ${length} bytes does not fit at ${offset} of ${bytes.length}`);
}

/** Of 16 bits, in an IPv6 address. */
const GROUPS = 8;

function groupAt(bytes: Uint8Array, offset: number, index: number): number {
  return ((bytes[offset + 2 * index] as number) << 8) | (bytes[offset + 2 * index + 1] as number);
}

function joinGroups(bytes: Uint8Array, offset: number, { from, to }: { readonly from: number; readonly to: number }): string {
  let text = "";
  for (let index = from; index < to; index += 1) text += `${index === from ? "" : ":"}${groupAt(bytes, offset, index).toString(16)}`;
  return text;
}

function longestZeroRun(bytes: Uint8Array, offset: number): { readonly start: number; readonly length: number } {
  const best = { start: 0, length: 0 };
  let length = 0;
  for (let index = 0; index < GROUPS; index += 1) {
    length = groupAt(bytes, offset, index) === 0 ? length + 1 : 0;
    if (length <= best.length) continue;
    best.start = index - length + 1;
    best.length = length;
  }
  return best;
}

/** Hexadecimal groups between colons; the last may be dotted and counts as two. */
function parseGroups(text: string, mayEndDotted: boolean): number[] | null {
  if (text === "") return [];
  const parts = text.split(":");
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (mayEndDotted && index === parts.length - 1 && part.includes(".")) {
      const dotted = parseIpv4(part);
      if (!dotted) return null;
      const [a, b, c, d] = dotted as unknown as [number, number, number, number];
      groups.push((a << 8) | b, (c << 8) | d);
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return null;
  }
  return groups;
}
