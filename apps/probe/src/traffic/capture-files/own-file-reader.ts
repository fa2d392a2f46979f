/** Reads files that this program wrote: one section, little-endian, nanoseconds. Others are for `createCaptureReader` of packets. */
import type { FileHandle } from "node:fs/promises";
import { decodeUtf8, PADDING_BLOCK } from "@lanthorn/packets";
import type { FilePart } from "./file-places.ts";

const SECTION_HEADER_BLOCK = 0x0a0d0d0a;
const INTERFACE_DESCRIPTION_BLOCK = 1;
const INTERFACE_STATISTICS_BLOCK = 5;
const ENHANCED_PACKET_BLOCK = 6;
const OPTION_END = 0;
const OPTION_COMMENT = 1;
const INTERFACE_NAME = 2;
const PACKET_FLAGS = 2;
const STATISTICS_RECEIVED = 4;
const STATISTICS_DROPPED_BY_OS = 7;

/** One packet block of the file; the next call of `onPacket` gets the same object with other values. */
export interface StoredFrame {
  bytes: Buffer;
  offset: number;
  length: number;
  wireLength: number;
  seconds: number;
  nanoseconds: number;
  isOutgoing: boolean;
  interfaceId: number;
  /** Of its block in the file. */
  position: number;
  /** Its comment as it lies in `bytes`; length 0 for none. */
  commentOffset: number;
  commentLength: number;
}

/** What was found in a file. */
export interface FileRead {
  /** Where the last whole block ends: beyond it the file is of no use. */
  readonly wholeBytes: number;
  /** Names of its interfaces, by their ids. */
  readonly interfaces: readonly { readonly name: string; readonly linkType: number; readonly snapLength: number }[];
  /** Whether it has statistics, which are written last. */
  readonly isFinished: boolean;
  readonly received: number;
  readonly droppedByKernel: number;
}

const CHUNK_BYTES = 1024 * 1024;
/** The largest block that we write: a frame of 262,144 bytes, its comment, and the rest. */
const MAX_BLOCK_BYTES = 270_000;
const MIN_BLOCK_BYTES = 12;
const WORD = 0x1_0000_0000;
/** The divisor of ticks, in two steps that are exact in a double. */
const TICKS_PER_SECOND = 1_000_000_000;

/**
 * Reads a file in chunks, one block after the other, up to the first one that is not whole.
 * @param deps.onInterface Called for each interface, in the order of their ids, before its packets.
 * @param deps.onPacket Called for each packet. What it gets is good during the call.
 * @param deps.afterChunk Awaited after each chunk: who reads at low priority pauses there. @returns False to stop.
 */
export async function readOwnFile(file: FileHandle, deps: {
  readonly onPacket: (frame: StoredFrame) => void;
  readonly onInterface?: (name: string) => void;
  readonly afterChunk?: () => Promise<boolean>;
  /** A megabyte unless given: who shares a turn of the event loop with others takes less. */
  readonly chunkBytes?: number;
  /** What is read of it beside its head, its packets and what is between them; null for all. It begins with a block. */
  readonly part?: FilePart | null;
}): Promise<FileRead> {
  const { chunkBytes = CHUNK_BYTES, part = null } = deps;
  const [partFrom, partTo] = [part?.from ?? 0, part?.to ?? Number.POSITIVE_INFINITY];
  const chunk = Buffer.allocUnsafe(chunkBytes + MAX_BLOCK_BYTES);
  const frame = createStoredFrame(chunk);
  const interfaces: { name: string; linkType: number; snapLength: number }[] = [];
  let statistics = { isFinished: false, received: 0, droppedByKernel: 0 };
  /** Bytes of the file before what is in `chunk`. */
  let before = 0;
  let held = 0;

  /** @returns Whether the block is one of ours. */
  const take = (type: number, at: number, length: number): boolean => {
    switch (type) {
      case ENHANCED_PACKET_BLOCK:
        if (!fillFrame(frame, at, length) || frame.interfaceId >= interfaces.length) return false;
        frame.position = before + at;
        deps.onPacket(frame);
        return true;
      case INTERFACE_DESCRIPTION_BLOCK:
        if (length < 20 || interfaces.length >= 64) return false;
        interfaces.push({
          linkType: chunk.readUInt16LE(at + 8), snapLength: chunk.readUInt32LE(at + 12), name: textOption(chunk, at + 16, at + length - 4, INTERFACE_NAME),
        });
        deps.onInterface?.(interfaces.at(-1)?.name ?? "");
        return true;
      case INTERFACE_STATISTICS_BLOCK:
        statistics = {
          isFinished: true, received: statistics.received + numberOption(chunk, at + 20, at + length - 4, STATISTICS_RECEIVED),
          droppedByKernel: statistics.droppedByKernel + numberOption(chunk, at + 20, at + length - 4, STATISTICS_DROPPED_BY_OS),
        };
        return true;
      case PADDING_BLOCK:
        return true;
      default:
        return type === SECTION_HEADER_BLOCK && before + at === 0;
    }
  };

  for (;;) {
    const wanted = Math.max(0, Math.min(chunkBytes, partTo - before - held));
    const { bytesRead } = await file.read(chunk, held, wanted, before + held);
    const end = held + bytesRead;
    let at = 0;
    while (at + MIN_BLOCK_BYTES <= end) {
      if (before + at < partFrom && chunk.readUInt32LE(at) === ENHANCED_PACKET_BLOCK) {
        // Behind the head: the rest up to the part is not looked at.
        at = partFrom - before;
        continue;
      }
      const length = chunk.readUInt32LE(at + 4);
      if (length < MIN_BLOCK_BYTES || length > MAX_BLOCK_BYTES || length % 4 !== 0) return { wholeBytes: before + at, interfaces, ...statistics };
      if (at + length > end) break;
      if (chunk.readUInt32LE(at + length - 4) !== length || !take(chunk.readUInt32LE(at), at, length)) {
        return { wholeBytes: before + at, interfaces, ...statistics };
      }
      at += length;
    }
    chunk.copyWithin(0, at, end);
    held = Math.max(0, end - at);
    before += at;
    if (bytesRead === 0 || (await deps.afterChunk?.()) === false) return { wholeBytes: before, interfaces, ...statistics };
  }
}

function createStoredFrame(bytes: Buffer): StoredFrame {
  return {
    bytes, offset: 0, length: 0, wireLength: 0, seconds: 0, nanoseconds: 0, isOutgoing: false, interfaceId: 0, position: 0, commentOffset: 0, commentLength: 0,
  };
}

/** @returns False for a block whose lengths are wrong. */
function fillFrame(frame: StoredFrame, at: number, blockLength: number): boolean {
  const { bytes } = frame;
  if (blockLength < 32) return false;
  const length = bytes.readUInt32LE(at + 20);
  if (length > blockLength - 32) return false;
  frame.interfaceId = bytes.readUInt32LE(at + 8);
  const high = bytes.readUInt32LE(at + 12);
  const low = bytes.readUInt32LE(at + 16);
  // Long division: the high word is below 2^31 until the year 2262, and its remainder times 2^16 stays exact.
  const middle = (high % TICKS_PER_SECOND) * 0x1_0000 + (low >>> 16);
  const last = (middle % TICKS_PER_SECOND) * 0x1_0000 + (low & 0xffff);
  frame.seconds = Math.floor(high / TICKS_PER_SECOND) * WORD + Math.floor(middle / TICKS_PER_SECOND) * 0x1_0000 + Math.floor(last / TICKS_PER_SECOND);
  frame.nanoseconds = last % TICKS_PER_SECOND;
  frame.offset = at + 28;
  frame.length = length;
  frame.wireLength = bytes.readUInt32LE(at + 24);
  frame.isOutgoing = false;
  frame.commentLength = 0;
  const end = at + blockLength - 4;
  for (let option = frame.offset + ((length + 3) & ~3); option + 4 <= end;) {
    const code = bytes.readUInt16LE(option);
    const octets = bytes.readUInt16LE(option + 2);
    if (code === OPTION_END || option + 4 + octets > end) break;
    if (code === PACKET_FLAGS && octets === 4) frame.isOutgoing = (bytes.readUInt32LE(option + 4) & 3) === 2;
    if (code === OPTION_COMMENT) {
      frame.commentOffset = option + 4;
      frame.commentLength = octets;
    }
    option += 4 + ((octets + 3) & ~3);
  }
  return true;
}

function findOption(bytes: Buffer, from: number, end: number, wanted: number): Buffer | null {
  for (let at = from; at + 4 <= end;) {
    const code = bytes.readUInt16LE(at);
    const octets = bytes.readUInt16LE(at + 2);
    if (code === OPTION_END || at + 4 + octets > end) return null;
    if (code === wanted) return bytes.subarray(at + 4, at + 4 + octets);
    at += 4 + ((octets + 3) & ~3);
  }
  return null;
}

const textOption = (bytes: Buffer, from: number, end: number, wanted: number) => {
  const found = findOption(bytes, from, end, wanted);
  return found ? decodeUtf8(found).slice(0, 64) : "";
};

const numberOption = (bytes: Buffer, from: number, end: number, wanted: number) => {
  const found = findOption(bytes, from, end, wanted);
  return found?.length === 8 ? Math.min(Number(found.readBigUInt64LE()), Number.MAX_SAFE_INTEGER) : 0;
};
