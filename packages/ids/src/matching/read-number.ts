/** Numbers that `byte_test`, `byte_jump`, `byte_extract` and `byte_math` read from a buffer. */

import type { NumberForm } from "../rules/buffer-match.ts";

/** Numbers are of 64 bits without a sign, and wrap. */
export const MAX_NUMBER = 0xffff_ffff_ffff_ffffn;
/** More digits than any number of 64 bits has. */
export const MAX_DIGITS = 23;
const MAX_BYTES = 8;

/** A number and how many bytes it took; digits may be fewer than were asked for. */
export interface NumberRead {
  readonly value: bigint;
  readonly length: number;
}

/**
 * Reads as C's strtoull does where it is written in digits: white space and a sign first, digits up to the first other byte.
 * @param littleEndian What the header of DCE/RPC says, for `dce`.
 * @returns Null where the bytes are not all there, no digit is, or the number has more than 64 bits.
 */
export function readNumber(buffer: Uint8Array, at: number, count: number, form: NumberForm, littleEndian: boolean): NumberRead | null {
  if (at < 0 || count < 0 || at + count > buffer.length || count > (form.digits === null ? MAX_BYTES : MAX_DIGITS)) return null;
  if (form.digits !== null) return readDigits(buffer.subarray(at, at + count), form.digits);
  const isLittle = form.byteOrder === "little" || (form.byteOrder === "dce" && littleEndian);
  let value = 0n;
  for (let index = 0; index < count; index += 1) value = (value << 8n) | BigInt(buffer[isLittle ? at + count - 1 - index : at + index] ?? 0);
  return { value, length: count };
}

const PREFIX = /^[ \t\n\v\f\r]*([+-]?)(0[xX](?=[0-9a-fA-F]))?/;

function readDigits(bytes: Uint8Array, digits: 8 | 10 | 16 | "any"): NumberRead | null {
  const [text = ""] = String.fromCharCode(...bytes).split("\0");
  const [prefix = "", sign = "", hexadecimal] = PREFIX.exec(text) ?? [];
  const takesPrefix = hexadecimal !== undefined && (digits === 16 || digits === "any");
  const start = takesPrefix || hexadecimal === undefined ? prefix.length : prefix.length - hexadecimal.length;
  const base = digits === "any" ? (takesPrefix ? 16 : text[start] === "0" ? 8 : 10) : digits;
  let value = 0n;
  let end = start;
  for (; end < text.length; end += 1) {
    const digit = Number.parseInt(text[end] ?? "", base);
    if (Number.isNaN(digit)) break;
    value = value * BigInt(base) + BigInt(digit);
  }
  if (end === start || value > MAX_NUMBER) return null;
  return { value: sign === "-" ? BigInt.asUintN(64, -value) : value, length: end };
}

/** @returns The number ANDed with the mask, and shifted right by the mask's trailing zeros. */
export function applyMask(value: bigint, bitmask: bigint | null): bigint {
  if (bitmask === null) return value;
  let masked = value & bitmask;
  for (let mask = bitmask; masked !== 0n && mask !== 0n && (mask & 1n) === 0n; mask >>= 1n) masked >>= 1n;
  return masked;
}
