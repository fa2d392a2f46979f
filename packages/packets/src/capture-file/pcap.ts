/**
 * The classic capture file: a 24-byte header, then records of a 16-byte header and the frame.
 * @see https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap/
 */
import { type CaptureFormat, type CaptureFrame, type CaptureStep, MAX_CAPTURE_RECORD_BYTES } from "./capture-file-framing.ts";
import { type ByteOrder, readU16, readU32, writeU16, writeU32 } from "./capture-file-order.ts";
import type { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

const MAGIC_MICROSECONDS = 0xa1b2c3d4;
const MAGIC_NANOSECONDS = 0xa1b23c4d;
const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
const NANOSECONDS_PER_SECOND = 1e9;

/**
 * How a record's two lengths stand: the captured one first since version 2.3, the original one first before. Some writers said 2.3 and
 * still wrote the old way; there the smaller one is the captured one, as nothing can be captured that was not there.
 */
type LengthOrder = "captured-first" | "original-first" | "smaller-is-captured";

interface PcapKind {
  readonly order: ByteOrder;
  readonly nanosecondsPerTick: number;
  /** Kuznetsov's tcpdump put an interface, a protocol and a packet type behind the lengths of a record; they are passed over. */
  readonly extraOctets: number;
}

/** What the first four bytes of a file, read as big-endian, say of the rest. */
const KINDS: ReadonlyMap<number, PcapKind> = new Map([
  [0xa1b2c3d4, { order: "big", nanosecondsPerTick: 1000, extraOctets: 0 }],
  [0xd4c3b2a1, { order: "little", nanosecondsPerTick: 1000, extraOctets: 0 }],
  [0xa1b23c4d, { order: "big", nanosecondsPerTick: 1, extraOctets: 0 }],
  [0x4d3cb2a1, { order: "little", nanosecondsPerTick: 1, extraOctets: 0 }],
  [0xa1b2cd34, { order: "big", nanosecondsPerTick: 1000, extraOctets: 8 }],
  [0x34cdb2a1, { order: "little", nanosecondsPerTick: 1000, extraOctets: 8 }],
]);

/** @param magic The first four bytes of a file as a big-endian number. */
export function isPcapMagic(magic: number): boolean {
  return KINDS.has(magic);
}

/** Reads versions 2.0 to 2.4 of either byte order and resolution, and Kuznetsov's modified ones; a record of more than `MAX_CAPTURE_RECORD_BYTES` is malformed. */
export function createPcapFormat(): CaptureFormat {
  let kind: PcapKind | null = null;
  let linkType = 0;
  let lengthOrder: LengthOrder = "captured-first";

  function readFileHeader(reader: Reader): CaptureStep {
    if (reader.remaining < FILE_HEADER_BYTES) return { kind: "need", bytes: FILE_HEADER_BYTES };
    const found = KINDS.get(reader.u32());
    if (!found) return { kind: "malformed", offset: 0 };
    const major = readU16(reader, found.order);
    const minor = readU16(reader, found.order);
    if (major !== 2 || minor > 4) return { kind: "malformed", offset: 4 };
    if (minor < 4) lengthOrder = minor === 3 ? "smaller-is-captured" : "original-first";
    reader.skip(12);
    // The upper half tells of a frame check sequence.
    linkType = readU32(reader, found.order) & 0xffff;
    kind = found;
    return { kind: "take", bytes: FILE_HEADER_BYTES, record: null };
  }

  function readRecord(reader: Reader, { order, nanosecondsPerTick, extraOctets }: PcapKind): CaptureStep {
    const headerBytes = RECORD_HEADER_BYTES + extraOctets;
    if (reader.remaining < headerBytes) return { kind: "need", bytes: headerBytes };
    const seconds = readU32(reader, order);
    const nanoseconds = readU32(reader, order) * nanosecondsPerTick;
    const [first, second] = [readU32(reader, order), readU32(reader, order)];
    const isSwapped = lengthOrder === "original-first" || (lengthOrder === "smaller-is-captured" && first > second);
    const [length, originalLength] = isSwapped ? [second, first] : [first, second];
    if (length > MAX_CAPTURE_RECORD_BYTES) return { kind: "malformed", offset: isSwapped ? 12 : 8 };
    reader.skip(extraOctets);
    if (reader.remaining < length) return { kind: "need", bytes: headerBytes + length };
    // A fraction of more than a second is written by nobody in good faith, and is no reason to lose the frame.
    const carried = Math.floor(nanoseconds / NANOSECONDS_PER_SECOND);
    return {
      kind: "take",
      bytes: headerBytes + length,
      record: {
        seconds: seconds + carried,
        nanoseconds: nanoseconds - carried * NANOSECONDS_PER_SECOND,
        originalLength,
        bytes: reader.take(length),
        linkType,
        interfaceId: 0,
        section: 0,
      },
    };
  }

  return {
    layer: "pcap",
    step: (reader) => (kind ? readRecord(reader, kind) : readFileHeader(reader)),
    mayEnd: () => kind !== null,
  };
}

/** How a pcap file is to be written. */
export interface PcapOptions {
  /** What the frames begin with: 1 is Ethernet. */
  readonly linkType: number;
  /** Frames are cut to this many bytes; at most and by default `MAX_CAPTURE_RECORD_BYTES`. */
  readonly snapLength?: number;
  /** Nanoseconds by default; microseconds, rounded down, for old readers. */
  readonly resolution?: "microseconds" | "nanoseconds";
  /** Little by default. */
  readonly byteOrder?: ByteOrder;
}

/** Makes the bytes of a pcap file; storing them is the caller's work. */
export interface PcapWriter {
  /** @returns What the file begins with. */
  header(): Uint8Array;
  /** @returns The record's header and a copy of its bytes. Seconds beyond 32 bits (the year 2106) start again at 0. */
  record(frame: CaptureFrame): Uint8Array;
}

/** @see https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap/ */
export function createPcapWriter(options: PcapOptions): PcapWriter {
  const order = options.byteOrder ?? "little";
  const nanosecondsPerTick = options.resolution === "microseconds" ? 1000 : 1;
  const snapLength = Math.min(options.snapLength ?? MAX_CAPTURE_RECORD_BYTES, MAX_CAPTURE_RECORD_BYTES);
  return {
    header() {
      const writer = new Writer(FILE_HEADER_BYTES);
      writeU32(writer, order, nanosecondsPerTick === 1 ? MAGIC_NANOSECONDS : MAGIC_MICROSECONDS);
      writeU16(writer, order, 2);
      writeU16(writer, order, 4);
      writer.zeros(8);
      writeU32(writer, order, snapLength);
      writeU32(writer, order, options.linkType);
      return writer.finish();
    },
    record(frame) {
      const kept = frame.bytes.subarray(0, snapLength);
      const writer = new Writer(RECORD_HEADER_BYTES + kept.length);
      writeU32(writer, order, frame.seconds);
      writeU32(writer, order, Math.floor(frame.nanoseconds / nanosecondsPerTick));
      writeU32(writer, order, kept.length);
      writeU32(writer, order, frame.originalLength ?? frame.bytes.length);
      return writer.put(kept).finish();
    },
  };
}
