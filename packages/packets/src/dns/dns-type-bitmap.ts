import { badValue, type Malformed } from "../decoded.ts";
import { requireRange } from "../limits.ts";
import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";

/** The set of record types in an NSEC record: windows of 256 types, each with as many bytes of bits as it needs. RFC 4034 section 4.1.2. */

const MAX_WINDOW_LENGTH = 32;

/** @returns Record types, rising. Windows must rise too, so that there are no more types than bits. */
export function readTypeBitmap(reader: Reader): readonly number[] | Malformed {
  const types: number[] = [];
  let windowBefore = -1;
  while (reader.remaining > 0) {
    const at = reader.offset;
    const window = reader.u8();
    const length = reader.u8();
    if (reader.failed) break;
    if (window <= windowBefore || length === 0 || length > MAX_WINDOW_LENGTH) return badValue("dns", at);
    windowBefore = window;
    for (const [index, byte] of reader.take(length).entries()) {
      for (let bit = 0; bit < 8; bit += 1) if ((byte & (0x80 >>> bit)) !== 0) types.push(window * 256 + index * 8 + bit);
    }
    if (reader.failed) break;
  }
  return reader.failed ? reader.malformed("dns") : types;
}

/** @param types In any order. @throws PacketsError for a number that is no record type. */
export function writeTypeBitmap(writer: Writer, types: readonly number[]): void {
  const windows = new Map<number, number[]>();
  for (const type of types.toSorted((a, b) => a - b)) {
    requireRange("dns.nsec.type", type, 0, 0xffff);
    const bits = windows.get(type >>> 8) ?? [];
    windows.set(type >>> 8, bits);
    const index = (type & 0xff) >>> 3;
    while (bits.length <= index) bits.push(0);
    bits[index] = (bits[index] as number) | (0x80 >>> (type & 7));
  }
  for (const [window, bits] of windows) writer.u8(window).u8(bits.length).put(Uint8Array.from(bits));
}
