import { formatIp, parseIp } from "./addresses.ts";

/** A network of either family, or one address with all its bits counted. */
export interface AddressPrefix {
  /** Four or sixteen bytes; those behind `length` are zero. */
  readonly bytes: Uint8Array;
  /** Bits that count. */
  readonly length: number;
}

/**
 * Reads `10.0.0.0/8`, `fe80::/10`, or an address alone. Bits behind the prefix may be set and are cleared.
 * @returns Null for other text.
 */
export function parsePrefix(text: string): AddressPrefix | null {
  const [, address, digits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
  const bytes = address === undefined ? null : parseIp(address);
  if (!bytes) return null;
  const length = digits === undefined ? bytes.length * 8 : Number(digits);
  return length > bytes.length * 8 ? null : createPrefix(bytes, length);
}

/** @param length At most the bits of `address`. */
export function createPrefix(address: Uint8Array, length: number): AddressPrefix {
  const bytes = address.map((byte, index) => byte & (0xff00 >> Math.min(Math.max(length - index * 8, 0), 8)));
  return { bytes, length };
}

/** `10.0.0.0/8` or `2001:db8::/32`; an address alone is written with all its bits, as `10.0.0.1/32`. */
export function formatPrefix(prefix: AddressPrefix): string {
  return `${formatIp(prefix.bytes)}/${prefix.length}`;
}

/** Whether the address that begins at `offset` lies in the prefix. @param addressLength 4 or 16. */
export function prefixHolds(prefix: AddressPrefix, bytes: Uint8Array, offset: number, addressLength: number): boolean {
  if (prefix.bytes.length !== addressLength || offset + addressLength > bytes.length) return false;
  const whole = prefix.length >>> 3;
  for (let at = 0; at < whole; at += 1) if (prefix.bytes[at] !== bytes[offset + at]) return false;
  const rest = prefix.length & 7;
  return rest === 0 || (((prefix.bytes[whole] as number) ^ (bytes[offset + whole] as number)) & (0xff00 >> rest) & 0xff) === 0;
}

/** Whether every address of `inner` is one of `outer`. */
export function prefixCovers(outer: AddressPrefix, inner: AddressPrefix): boolean {
  return inner.length >= outer.length && prefixHolds(outer, inner.bytes, 0, inner.bytes.length);
}

/** The four bytes of an IPv4 address as an unsigned number. */
export function ipv4Number(bytes: Uint8Array, offset = 0): number {
  return (
    (((bytes[offset] as number) << 24) |
      ((bytes[offset + 1] as number) << 16) |
      ((bytes[offset + 2] as number) << 8) |
      (bytes[offset + 3] as number)) >>>
    0
  );
}

/** The other way round: four bytes. */
export function ipv4Bytes(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}
