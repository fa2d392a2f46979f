import { formatMac } from "@lanthorn/packets";

/** A MAC address as a number below 2^48: it is compared and kept without an object. @param offset Of its first byte. */
export function macNumber(bytes: Uint8Array, offset = 0): number {
  const byte = (at: number) => bytes[offset + at] as number;
  return ((byte(0) << 8) | byte(1)) * 2 ** 32 + (((byte(2) << 24) | (byte(3) << 16) | (byte(4) << 8) | byte(5)) >>> 0);
}

/** A hash of it. @returns A signed number of 32 bits, which V8 keeps without an object: a map finds a larger one by a call out of its code. */
export function hashMac(mac: number): number {
  const mixed = Math.imul(mac | 0, 0x9e3779b1) ^ Math.imul((mac / 2 ** 32) | 0, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}

/** Its six bytes. */
export function macBytes(mac: number): Uint8Array {
  const high = Math.floor(mac / 2 ** 32);
  const low = mac % 2 ** 32;
  return Uint8Array.of(high >>> 8, high, low >>> 24, low >>> 16, low >>> 8, low);
}

/** As `formatMac` writes it. */
export function macText(mac: number): string {
  return formatMac(macBytes(mac));
}
