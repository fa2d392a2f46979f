/**
 * The newer capture file: blocks in sections, each with its own interfaces. Blocks of frames and interfaces are read, all
 * others passed over.
 * @see https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/
 */
import { type CaptureFormat, type CaptureRecord, type CaptureStep, MAX_CAPTURE_RECORD_BYTES } from "./capture-file-framing.ts";
import { type ByteOrder, readU16, readU32 } from "./capture-file-order.ts";
import { timeStampReader, type TimeStampReader } from "./pcapng-time.ts";
import { Reader } from "./reader.ts";

/** Reads the same in both byte orders. */
export const SECTION_HEADER_BLOCK = 0x0a0d0d0a;
/** Block type: link type and time resolution of the frames of one interface. Interfaces are numbered in file order, from 0. */
export const INTERFACE_DESCRIPTION_BLOCK = 1;
const OBSOLETE_PACKET_BLOCK = 2;
const SIMPLE_PACKET_BLOCK = 3;
/** Block type: one frame, with its interface, time and length on the wire. */
export const ENHANCED_PACKET_BLOCK = 6;
/** In a section header; read the other way around where the section is little-endian. */
export const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
/** A block begins with its type and length, and ends with its length. */
const HEAD_BYTES = 8;
const TRAILER_BYTES = 4;
const MIN_BLOCK_BYTES = HEAD_BYTES + TRAILER_BYTES;
/** Of the time stamp options of an interface. */
export const OPTION_TIME_RESOLUTION = 9;
const OPTION_TIME_OFFSET = 14;
const DEFAULT_TIME_RESOLUTION = 6;
/** An interface costs 100 bytes of memory and 20 of the file; no machine has this many. */
const MAX_INTERFACES = 65_536;

interface CaptureInterface {
  readonly linkType: number;
  /** 0 means that there is no limit. */
  readonly snapLength: number;
  readonly toTime: TimeStampReader;
}

interface Block {
  /** Stands behind the head. */
  readonly reader: Reader;
  /** Of the whole block, from the type to the trailer, padding included: a multiple of 4. */
  readonly length: number;
}

/**
 * Reads versions 1.x of either byte order, section by section. Malformed are: a record of more than `MAX_CAPTURE_RECORD_BYTES`,
 * an interface description longer than that, a frame of an interface that was not described, and lengths that do not agree.
 */
export function createPcapngFormat(): CaptureFormat {
  let order: ByteOrder = "big";
  let section = -1;
  let interfaces: CaptureInterface[] = [];
  /** The length that the trailer which comes next must repeat, or null between blocks. */
  let trailerOf: number | null = null;

  function readBlock(reader: Reader): CaptureStep {
    if (reader.remaining < HEAD_BYTES) return { kind: "need", bytes: HEAD_BYTES };
    const start = reader.offset;
    if (reader.u32() === SECTION_HEADER_BLOCK) {
      if (reader.remaining < 8) return { kind: "need", bytes: HEAD_BYTES + 4 };
      reader.skip(4);
      const magic = reader.u32();
      if (magic !== BYTE_ORDER_MAGIC && magic !== 0x4d3c2b1a) return { kind: "malformed", offset: 8 };
      order = magic === BYTE_ORDER_MAGIC ? "big" : "little";
    } else if (section < 0) {
      return { kind: "malformed", offset: 0 };
    }
    reader.seek(start);
    const type = readU32(reader, order);
    const totalLength = readU32(reader, order);
    if (totalLength < MIN_BLOCK_BYTES) return { kind: "malformed", offset: 4 };
    // Some writers leave the padding out of the length, though not out of the file.
    const step = readBody(type, { reader, length: Math.ceil(totalLength / 4) * 4 });
    if (step.kind === "take") trailerOf = totalLength;
    return step;
  }

  function readBody(type: number, block: Block): CaptureStep {
    switch (type) {
      case SECTION_HEADER_BLOCK:
        return readSection(block);
      case INTERFACE_DESCRIPTION_BLOCK:
        return readInterface(block);
      case ENHANCED_PACKET_BLOCK:
      case OBSOLETE_PACKET_BLOCK:
        return readPacket(block, type === OBSOLETE_PACKET_BLOCK);
      case SIMPLE_PACKET_BLOCK:
        return readSimplePacket(block);
      default:
        return takeBlock(block, null);
    }
  }

  function readSection(block: Block): CaptureStep {
    const step = needFields(block, 16);
    if (step) return step;
    block.reader.skip(4);
    if (readU16(block.reader, order) !== 1) return { kind: "malformed", offset: 12 };
    section += 1;
    interfaces = [];
    return takeBlock(block, null);
  }

  function readInterface(block: Block): CaptureStep {
    if (block.length > MAX_CAPTURE_RECORD_BYTES || interfaces.length >= MAX_INTERFACES || block.length < 20) {
      return { kind: "malformed", offset: 4 };
    }
    const step = needFields(block, block.length - MIN_BLOCK_BYTES);
    if (step) return step;
    const { reader } = block;
    const end = reader.offset + block.length - MIN_BLOCK_BYTES;
    const linkType = readU16(reader, order);
    reader.skip(2);
    const snapLength = readU32(reader, order);
    const toTime = readTimeOptions(new Reader(reader.bytes, reader.offset, end), order);
    if (!toTime) return { kind: "malformed", offset: 16 };
    interfaces.push({ linkType, snapLength, toTime });
    return takeBlock(block, null);
  }

  function readPacket(block: Block, isObsolete: boolean): CaptureStep {
    const step = needFields(block, 20);
    if (step) return step;
    const { reader } = block;
    const interfaceId = isObsolete ? readU16(reader, order) : readU32(reader, order);
    // The obsolete block counts dropped frames here.
    if (isObsolete) reader.skip(2);
    const high = readU32(reader, order);
    const low = readU32(reader, order);
    const captured = readU32(reader, order);
    const originalLength = readU32(reader, order);
    const from = interfaces[interfaceId];
    if (!from) return { kind: "malformed", offset: 8 };
    if (captured > MAX_CAPTURE_RECORD_BYTES || captured > block.length - 32) return { kind: "malformed", offset: 20 };
    if (reader.remaining < captured) return { kind: "need", bytes: HEAD_BYTES + 20 + captured };
    const { seconds, nanoseconds } = from.toTime(high, low);
    const { linkType } = from;
    return takeBlock(block, { seconds, nanoseconds, originalLength, bytes: reader.take(captured), linkType, interfaceId, section });
  }

  function readSimplePacket(block: Block): CaptureStep {
    const step = needFields(block, 4);
    if (step) return step;
    const { reader } = block;
    const originalLength = readU32(reader, order);
    const from = interfaces[0];
    if (!from) return { kind: "malformed", offset: 0 };
    const captured = Math.min(originalLength, from.snapLength === 0 ? originalLength : from.snapLength);
    if (captured > MAX_CAPTURE_RECORD_BYTES || captured > block.length - 16) return { kind: "malformed", offset: 8 };
    if (reader.remaining < captured) return { kind: "need", bytes: HEAD_BYTES + 4 + captured };
    const { linkType } = from;
    const bytes = reader.take(captured);
    return takeBlock(block, { seconds: 0, nanoseconds: 0, originalLength, bytes, linkType, interfaceId: 0, section });
  }

  function readTrailer(reader: Reader, length: number): CaptureStep {
    if (reader.remaining < TRAILER_BYTES) return { kind: "need", bytes: TRAILER_BYTES };
    if (readU32(reader, order) !== length) return { kind: "malformed", offset: 0 };
    trailerOf = null;
    return { kind: "take", bytes: TRAILER_BYTES, record: null };
  }

  return {
    layer: "pcapng",
    step: (reader) => (trailerOf === null ? readBlock(reader) : readTrailer(reader, trailerOf)),
    mayEnd: () => section >= 0 && trailerOf === null,
  };
}

/** @returns What is wrong with a block whose body ought to begin with so many bytes, or null. */
function needFields({ reader, length }: Block, bytes: number): CaptureStep | null {
  if (length < MIN_BLOCK_BYTES + bytes) return { kind: "malformed", offset: 4 };
  return reader.remaining < bytes ? { kind: "need", bytes: HEAD_BYTES + bytes } : null;
}

/** Done with the block but for its trailer, options and padding unread. */
function takeBlock({ length }: Block, record: CaptureRecord | null): CaptureStep {
  return { kind: "take", bytes: length - TRAILER_BYTES, record };
}

/** @returns How an interface counts time, or null where its options run past the block. */
function readTimeOptions(reader: Reader, order: ByteOrder): TimeStampReader | null {
  let resolution = DEFAULT_TIME_RESOLUTION;
  let offsetSeconds = 0n;
  while (reader.remaining >= 4) {
    const code = readU16(reader, order);
    const length = readU16(reader, order);
    if (code === 0) break;
    const value = new Reader(reader.take(length));
    reader.skip(Math.min(-length & 3, reader.remaining));
    if (reader.failed) return null;
    if (code === OPTION_TIME_RESOLUTION && length === 1) resolution = value.u8();
    if (code === OPTION_TIME_OFFSET && length === 8) {
      const halves = [BigInt(readU32(value, order)), BigInt(readU32(value, order))] as const;
      offsetSeconds = BigInt.asIntN(64, order === "big" ? (halves[0] << 32n) | halves[1] : (halves[1] << 32n) | halves[0]);
    }
  }
  return timeStampReader(resolution, offsetSeconds);
}
