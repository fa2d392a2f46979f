/** Options of pcapng blocks, in writing: a code, a length, the value, padded to four octets. @see draft-ietf-opsawg-pcapng 3.5 */
import { type ByteOrder, writeU16 } from "./capture-file-order.ts";
import { encodeUtf8 } from "../text.ts";
import { Writer } from "../writer.ts";

/** An option's code and value. */
export type PcapngOption = readonly [code: number, value: Uint8Array];

/** opt_comment, in every block. */
export const OPTION_COMMENT = 1;
/** What ends the options of a block. */
export const END_OF_OPTIONS_OCTETS = 4;
const MAX_OPTION_OCTETS = 0xffff;

/** Text as an option's value: UTF-8, cut to 65,535 octets between two characters, whatever is beyond. */
export function textOption(code: number, text: string): PcapngOption {
  // No character takes less than an octet.
  const bytes = encodeUtf8(text.length > MAX_OPTION_OCTETS ? text.slice(0, MAX_OPTION_OCTETS) : text);
  let end = Math.min(bytes.length, MAX_OPTION_OCTETS);
  while (end < bytes.length && end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return [code, bytes.subarray(0, end)];
}

/** A number of 64 bits as an option's value. */
export function countOption(code: number, value: number, order: ByteOrder): PcapngOption {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(Math.max(0, Math.trunc(value))), order === "little");
  return [code, bytes];
}

/** @returns The options one after the other and what ends them; nothing where there are none. */
export function encodeOptions(options: readonly PcapngOption[], order: ByteOrder): Uint8Array {
  if (options.length === 0) return new Uint8Array(0);
  const writer = new Writer();
  for (const [code, value] of options) {
    const kept = value.subarray(0, MAX_OPTION_OCTETS);
    writeU16(writer, order, code);
    writeU16(writer, order, kept.length);
    writer.put(kept).zeros(-kept.length & 3);
  }
  return writer.zeros(END_OF_OPTIONS_OCTETS).finish();
}
