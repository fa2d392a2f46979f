/** Writes one section of a pcapng file. @see https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/ */
import { type CaptureFrame, MAX_CAPTURE_RECORD_BYTES } from "./capture-file-framing.ts";
import { type ByteOrder, writeU16, writeU32 } from "./capture-file-order.ts";
import { BYTE_ORDER_MAGIC } from "./pcapng.ts";
import { ENHANCED_PACKET_BLOCK, INTERFACE_DESCRIPTION_BLOCK, SECTION_HEADER_BLOCK } from "./pcapng-blocks.ts";
import { OPTION_TIME_RESOLUTION } from "./pcapng-time.ts";
import { encodeUtf8 } from "../text.ts";
import { Writer } from "../writer.ts";

/** An interface that frames of a pcapng file come from. */
export interface PcapngInterface {
  /** What the frames begin with: 1 is Ethernet. */
  readonly linkType: number;
  /** As the operating system calls it; cut to 65,535 bytes. */
  readonly name?: string;
  /** Frames are cut to this many bytes; at most and by default `MAX_CAPTURE_RECORD_BYTES`. */
  readonly snapLength?: number;
}

/** How a pcapng section is to be written. */
export interface PcapngOptions {
  /** In the order of their ids, from 0. */
  readonly interfaces: readonly PcapngInterface[];
  /** Little by default. */
  readonly byteOrder?: ByteOrder;
}

/** Makes the bytes of a pcapng section, times in nanoseconds; storing them is the caller's work. */
export interface PcapngWriter {
  /** @returns What the section begins with: its header and its interfaces. */
  header(): Uint8Array;
  /**
   * @param frame `interfaceId` is 0 where it is left out; one that was not described is written all the same, and malformed
   * to every reader. Times before 1970 and after 2554 have no bytes and are wrapped.
   * @returns An enhanced packet block with a copy of the frame's bytes.
   */
  record(frame: CaptureFrame & { readonly interfaceId?: number }): Uint8Array;
}

const OPTION_INTERFACE_NAME = 2;
/** Ticks of 10^-9 s. */
const NANOSECOND_RESOLUTION = 9;
/** "Not said": the section may go on for as long as the file does. */
const UNKNOWN_SECTION_LENGTH = 0xffff_ffff;

/** @see draft-ietf-opsawg-pcapng 4.1 to 4.3 */
export function createPcapngWriter(options: PcapngOptions): PcapngWriter {
  const order = options.byteOrder ?? "little";
  const snapLengths = options.interfaces.map(({ snapLength = MAX_CAPTURE_RECORD_BYTES }) => Math.min(snapLength, MAX_CAPTURE_RECORD_BYTES));

  function block(type: number, body: Uint8Array): Uint8Array {
    const padding = -body.length & 3;
    const length = 12 + body.length + padding;
    const writer = new Writer(length);
    writeU32(writer, order, type);
    writeU32(writer, order, length);
    writer.put(body).zeros(padding);
    writeU32(writer, order, length);
    return writer.finish();
  }

  function option(writer: Writer, code: number, value: Uint8Array): void {
    const kept = value.subarray(0, 0xffff);
    writeU16(writer, order, code);
    writeU16(writer, order, kept.length);
    writer.put(kept).zeros(-kept.length & 3);
  }

  function describe({ linkType, name }: PcapngInterface, index: number): Uint8Array {
    const body = new Writer();
    writeU16(body, order, linkType);
    body.zeros(2);
    writeU32(body, order, snapLengths[index] ?? 0);
    if (name !== undefined) option(body, OPTION_INTERFACE_NAME, encodeUtf8(name));
    option(body, OPTION_TIME_RESOLUTION, Uint8Array.of(NANOSECOND_RESOLUTION));
    option(body, 0, new Uint8Array(0));
    return block(INTERFACE_DESCRIPTION_BLOCK, body.finish());
  }

  return {
    header() {
      const body = new Writer();
      writeU32(body, order, BYTE_ORDER_MAGIC);
      writeU16(body, order, 1);
      writeU16(body, order, 0);
      writeU32(body, order, UNKNOWN_SECTION_LENGTH);
      writeU32(body, order, UNKNOWN_SECTION_LENGTH);
      const all = new Writer().put(block(SECTION_HEADER_BLOCK, body.finish()));
      options.interfaces.forEach((one, index) => all.put(describe(one, index)));
      return all.finish();
    },
    record(frame) {
      const interfaceId = frame.interfaceId ?? 0;
      const kept = frame.bytes.subarray(0, snapLengths[interfaceId] ?? MAX_CAPTURE_RECORD_BYTES);
      const ticks = BigInt(frame.seconds) * 1_000_000_000n + BigInt(frame.nanoseconds);
      const body = new Writer(20 + kept.length);
      writeU32(body, order, interfaceId);
      writeU32(body, order, Number(BigInt.asUintN(32, ticks >> 32n)));
      writeU32(body, order, Number(BigInt.asUintN(32, ticks)));
      writeU32(body, order, kept.length);
      writeU32(body, order, frame.originalLength ?? frame.bytes.length);
      return block(ENHANCED_PACKET_BLOCK, body.put(kept).finish());
    },
  };
}
