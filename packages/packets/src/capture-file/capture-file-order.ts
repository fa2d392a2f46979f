import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";

/** A capture file is written in the byte order of the machine that wrote it. */
export type ByteOrder = "big" | "little";

/** The next 16 bits as a number. */
export function readU16(reader: Reader, order: ByteOrder): number {
  return order === "big" ? reader.u16() : reader.u16le();
}

/** The next 32 bits as a number without sign. */
export function readU32(reader: Reader, order: ByteOrder): number {
  return order === "big" ? reader.u32() : reader.u32le();
}

/** Appends the low 16 bits of `value`. */
export function writeU16(writer: Writer, order: ByteOrder, value: number): void {
  if (order === "big") writer.u16(value);
  else writer.u16le(value);
}

/** Appends the low 32 bits of `value`. */
export function writeU32(writer: Writer, order: ByteOrder, value: number): void {
  if (order === "big") writer.u32(value);
  else writer.u32le(value);
}
