import { badValue, decoded, type Decoded } from "../decoded.ts";
import { requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 9293 section 3.1, RFC 7323 and RFC 2018: options of the TCP header. */

/** One option. @see RFC 9293 section 3.1, RFC 7323 sections 2 and 3, RFC 2018 sections 2 and 3 */
export type TcpOption =
  | { readonly kind: "no-operation" }
  | { readonly kind: "maximum-segment-size"; readonly bytes: number }
  | { readonly kind: "window-scale"; readonly shift: number }
  | { readonly kind: "sack-permitted" }
  | { readonly kind: "sack"; readonly blocks: readonly SackBlock[] }
  | { readonly kind: "timestamps"; readonly value: number; readonly echoReply: number }
  /** Any other kind, without its kind and length bytes. */
  | { readonly kind: "unknown"; readonly number: number; readonly data: Uint8Array };

/** Sequence numbers that have arrived, the right one not included. */
export interface SackBlock {
  readonly left: number;
  readonly right: number;
}

const END = 0;
const NO_OPERATION = 1;
const MAXIMUM_SEGMENT_SIZE = 2;
const WINDOW_SCALE = 3;
const SACK_PERMITTED = 4;
const SACK = 5;
const TIMESTAMPS = 8;

/** Options in wire order up to End of Option List, which is not among them. An option with an unusual length is kept as `unknown`. */
export function decodeTcpOptions(bytes: Uint8Array): Decoded<readonly TcpOption[]> {
  const reader = new Reader(bytes);
  const options: TcpOption[] = [];
  while (reader.remaining > 0) {
    const start = reader.offset;
    const number = reader.u8();
    if (number === END) break;
    if (number === NO_OPERATION) options.push({ kind: "no-operation" });
    else {
      const length = reader.u8();
      if (!reader.failed && length < 2) return badValue("tcp-option", start + 1);
      const data = reader.take(length - 2);
      if (reader.failed) return reader.malformed("tcp-option");
      options.push(readOption(number, data));
    }
  }
  return decoded(options);
}

function readOption(number: number, data: Uint8Array): TcpOption {
  const reader = new Reader(data);
  if (number === MAXIMUM_SEGMENT_SIZE && data.length === 2) return { kind: "maximum-segment-size", bytes: reader.u16() };
  if (number === WINDOW_SCALE && data.length === 1) return { kind: "window-scale", shift: reader.u8() };
  if (number === SACK_PERMITTED && data.length === 0) return { kind: "sack-permitted" };
  if (number === TIMESTAMPS && data.length === 8) return { kind: "timestamps", value: reader.u32(), echoReply: reader.u32() };
  if (number === SACK && data.length > 0 && data.length % 8 === 0) {
    const blocks: SackBlock[] = [];
    while (reader.remaining > 0) blocks.push({ left: reader.u32(), right: reader.u32() });
    return { kind: "sack", blocks };
  }
  return { kind: "unknown", number, data };
}

/** Options padded with zeros to a multiple of four bytes. @throws PacketsError when they need more than 40. */
export function encodeTcpOptions(options: readonly TcpOption[]): Uint8Array {
  const writer = new Writer(40);
  for (const option of options) writeOption(writer, option);
  writer.zeros((4 - (writer.length % 4)) % 4);
  requireRange("tcp.options: their length", writer.length, 0, 40);
  return writer.finish();
}

function writeOption(writer: Writer, option: TcpOption): void {
  switch (option.kind) {
    case "no-operation":
      writer.u8(NO_OPERATION);
      return;
    case "maximum-segment-size":
      requireRange("tcp maximum segment size", option.bytes, 0, 0xffff);
      writer.u8(MAXIMUM_SEGMENT_SIZE).u8(4).u16(option.bytes);
      return;
    case "window-scale":
      requireRange("tcp window scale", option.shift, 0, 0xff);
      writer.u8(WINDOW_SCALE).u8(3).u8(option.shift);
      return;
    case "sack-permitted":
      writer.u8(SACK_PERMITTED).u8(2);
      return;
    case "sack":
      writer.u8(SACK).u8(2 + 8 * option.blocks.length);
      for (const block of option.blocks) writer.u32(block.left).u32(block.right);
      return;
    case "timestamps":
      writer.u8(TIMESTAMPS).u8(10).u32(option.value).u32(option.echoReply);
      return;
    case "unknown":
      requireRange("tcp option number", option.number, 2, 0xff);
      writer.u8(option.number).u8(2 + option.data.length).put(option.data);
  }
}
