// BER as LDAP, SNMP and Kerberos use it: tags of one byte, definite lengths. @see ITU-T X.690 section 8.1
/** One element: tag, length, value. */
export interface Tlv {
  readonly tag: number;
  /** A view. */
  readonly value: Uint8Array;
  /** Of tag, length and value together. */
  readonly size: number;
}

const MAX_LENGTH = 1024 * 1024;
const LONG_FORM = 0x80;
const MAX_LENGTH_OCTETS = 4;

/** @returns The first element, or null where it is not whole. */
export function readTlv(bytes: Uint8Array): Tlv | null {
  const head = readHead(bytes);
  if (head === null || head === "bad" || head.size > bytes.length) return null;
  return { tag: bytes[0] as number, value: bytes.subarray(head.begin, head.size), size: head.size };
}

/** @returns Octets of the first element, however much of it is there; null where there are too few to say, and "bad" for an indefinite length or one above a mebibyte. */
export function tlvSize(bytes: Uint8Array): number | "bad" | null {
  const head = readHead(bytes);
  return head === null || head === "bad" ? head : head.size;
}

function readHead(bytes: Uint8Array): { readonly begin: number; readonly size: number } | "bad" | null {
  const first = bytes[1];
  if (first === undefined) return null;
  const more = first < LONG_FORM ? 0 : first - LONG_FORM;
  if (first === LONG_FORM || more > MAX_LENGTH_OCTETS) return "bad";
  const begin = 2 + more;
  if (bytes.length < begin) return null;
  const length = more === 0 ? first : bytes.subarray(2, begin).reduce((sum, digit) => sum * 256 + digit, 0);
  return length > MAX_LENGTH ? "bad" : { begin, size: begin + length };
}

/** Every element of a constructed one. */
export function readAll(bytes: Uint8Array): readonly Tlv[] {
  const elements: Tlv[] = [];
  for (let rest = bytes; rest.length > 0 && elements.length < 1024; ) {
    const element = readTlv(rest);
    if (!element) break;
    elements.push(element);
    rest = rest.subarray(element.size);
  }
  return elements;
}

/**
 * @param value At most 65,535 bytes.
 * @returns Tag, length in its shortest form, and value.
 */
export function encodeTlv(tag: number, value: Uint8Array): Uint8Array {
  const { length } = value;
  const head = length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  const bytes = new Uint8Array(head.length + length);
  bytes.set(head);
  bytes.set(value, head.length);
  return bytes;
}

/** As `1.3.6.1`; every arc as far as numbers are exact. */
export function decodeObjectIdentifier(bytes: Uint8Array): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of bytes.subarray(0, 128)) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    if (arcs.length === 0) arcs.push(Math.min(2, Math.floor(arc / 40)), arc - 40 * Math.min(2, Math.floor(arc / 40)));
    else arcs.push(arc);
    arc = 0;
  }
  return arcs.join(".");
}

/** @param text As `1.3.6.1`. @returns The whole element. @see ITU-T X.690 section 8.19 */
export function encodeObjectIdentifier(text: string): Uint8Array {
  const [first = 1, second = 3, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const digits = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return encodeTlv(0x06, Uint8Array.from(bytes));
}

/** @param value A whole number from 0 on. @returns The whole element. @see ITU-T X.690 section 8.3 */
export function encodeInteger(value: number): Uint8Array {
  const bytes = [value & 0xff];
  for (let left = Math.floor(value / 256); left > 0; left = Math.floor(left / 256)) bytes.unshift(left & 0xff);
  if ((bytes[0] ?? 0) >= 0x80) bytes.unshift(0);
  return encodeTlv(0x02, Uint8Array.from(bytes));
}

/** @param bytes The value alone, read as an unsigned number of at most six bytes. */
export function decodeInteger(bytes: Uint8Array): number {
  return bytes.subarray(0, 6).reduce((sum, byte) => sum * 256 + byte, 0);
}
