/**
 * Bodies of the newer capture file's blocks: sections, interfaces and frames. All others are passed over.
 * @see https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/ section 4
 */
import { type CaptureRecord, type CaptureStep, MAX_CAPTURE_RECORD_BYTES } from "./capture-file-framing.ts";
import { type ByteOrder, readU16, readU32 } from "./capture-file-order.ts";
import { readTimeOptions, type TimeStampReader } from "./pcapng-time.ts";
import { Reader } from "../reader.ts";

/** The type of a section header block; it reads the same in both byte orders. */
export const SECTION_HEADER_BLOCK = 0x0a0d0d0a;
/** The type of an interface description block. */
export const INTERFACE_DESCRIPTION_BLOCK = 1;
const OBSOLETE_PACKET_BLOCK = 2;
const SIMPLE_PACKET_BLOCK = 3;
/** The type of an enhanced packet block. */
export const ENHANCED_PACKET_BLOCK = 6;
/** A block begins with its type and its length. */
export const HEAD_BYTES = 8;
/** A block ends with its length. */
export const TRAILER_BYTES = 4;
/** The length of a block without a body. */
export const MIN_BLOCK_BYTES = HEAD_BYTES + TRAILER_BYTES;
/** An interface costs 100 bytes of memory and 20 of the file; no machine has this many. */
const MAX_INTERFACES = 65_536;

/** An interface that frames of the section come from. */
interface CaptureInterface {
  readonly linkType: number;
  /** 0 means that there is no limit. */
  readonly snapLength: number;
  readonly toTime: TimeStampReader;
}

/** A block whose head was read. */
export interface Block {
  /** Stands behind the head. */
  readonly reader: Reader;
  /** Of the whole block, from the type to the trailer, padding included: a multiple of 4. */
  readonly length: number;
}

/** What blocks of a section are read by. Changed in place. */
export interface Section {
  readonly order: ByteOrder;
  /** Counted from 0 in the file. */
  readonly index: number;
  /** In the order in which they were described; frames name them by their place. */
  readonly interfaces: CaptureInterface[];
}

/**
 * Reads a block's body.
 * @param section The section that the block is in; for a section header, the one that it begins.
 */
export function readBlockBody(type: number, block: Block, section: Section): CaptureStep {
  switch (type) {
    case SECTION_HEADER_BLOCK:
      return readSectionHeader(block, section);
    case INTERFACE_DESCRIPTION_BLOCK:
      return readInterface(block, section);
    case ENHANCED_PACKET_BLOCK:
    case OBSOLETE_PACKET_BLOCK:
      return readPacket(block, section, type === OBSOLETE_PACKET_BLOCK);
    case SIMPLE_PACKET_BLOCK:
      return readSimplePacket(block, section);
    default:
      return takeBlock(block, null);
  }
}

function readSectionHeader(block: Block, { order }: Section): CaptureStep {
  const step = needFields(block, 16);
  if (step) return step;
  block.reader.skip(4);
  return readU16(block.reader, order) === 1 ? takeBlock(block, null) : { kind: "malformed", offset: 12 };
}

function readInterface(block: Block, { order, interfaces }: Section): CaptureStep {
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

function readPacket(block: Block, { order, index, interfaces }: Section, isObsolete: boolean): CaptureStep {
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
  return takeBlock(block, { seconds, nanoseconds, originalLength, bytes: reader.take(captured), linkType, interfaceId, section: index });
}

function readSimplePacket(block: Block, { order, index, interfaces }: Section): CaptureStep {
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
  return takeBlock(block, { seconds: 0, nanoseconds: 0, originalLength, bytes, linkType, interfaceId: 0, section: index });
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
