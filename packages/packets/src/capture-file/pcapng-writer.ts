/** Writes one section of a pcapng file. @see https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/ */
import { type CaptureFrame, MAX_CAPTURE_RECORD_BYTES } from "./capture-file-framing.ts";
import { type ByteOrder, writeU16, writeU32 } from "./capture-file-order.ts";
import { BYTE_ORDER_MAGIC } from "./pcapng.ts";
import { INTERFACE_DESCRIPTION_BLOCK, MIN_BLOCK_BYTES, SECTION_HEADER_BLOCK, TRAILER_BYTES } from "./pcapng-blocks.ts";
import { countOption, encodeOptions, OPTION_COMMENT, type PcapngOption, textOption } from "./pcapng-options.ts";
import { PacketBlockWriter, type PacketFacts, type PlacedFrame, TimeStampWriter } from "./pcapng-packet.ts";
import { OPTION_TIME_RESOLUTION } from "./pcapng-time.ts";
import { Writer } from "../writer.ts";

/** An interface that frames of a pcapng file come from. Texts are cut to 65,535 octets. */
export interface PcapngInterface {
  /** What the frames begin with: 1 is Ethernet. */
  readonly linkType: number;
  /** As the operating system calls it. */
  readonly name?: string;
  readonly description?: string;
  /** The capture filter in words. */
  readonly filter?: string;
  /** Six octets. */
  readonly hardwareAddress?: Uint8Array;
  /** Frames are cut to this many bytes; at most and by default `MAX_CAPTURE_RECORD_BYTES`. */
  readonly snapLength?: number;
}

/** How a pcapng section is to be written. */
export interface PcapngOptions {
  /** In the order of their ids, from 0. tcpdump reads files only whose interfaces all have one link type and one snap length. */
  readonly interfaces: readonly PcapngInterface[];
  /** Little by default. */
  readonly byteOrder?: ByteOrder;
  /** Of the machine that captured. */
  readonly hardware?: string;
  /** The machine's operating system. */
  readonly operatingSystem?: string;
  /** What wrote the file. */
  readonly application?: string;
  /** About the whole section. */
  readonly comment?: string;
}

/** What an interface's capture came to, at a section's end. What is left out is not written. */
export interface PcapngStatistics {
  /** 0 unless given. */
  readonly interfaceId?: number;
  /** When these figures were taken. */
  readonly at: PcapngTime;
  readonly startedAt?: PcapngTime;
  readonly endedAt?: PcapngTime;
  /** Frames that the interface took. */
  readonly received?: number;
  /** Frames that the interface had no room for. */
  readonly droppedByInterface?: number;
  /** Frames that the filter let through: `received` less these were left out. */
  readonly accepted?: number;
  /** Frames that the kernel had no room for. */
  readonly droppedByKernel?: number;
  /** Frames that were delivered to the writer: what is missing of `accepted` and was not dropped by the kernel, the writer dropped. */
  readonly delivered?: number;
  readonly comment?: string;
}

/** Seconds since the epoch, and nanoseconds to be added. */
export interface PcapngTime {
  readonly seconds: number;
  readonly nanoseconds: number;
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
  record(frame: CaptureFrame & PacketFacts & { readonly isOutgoing?: boolean }): Uint8Array;
  /**
   * The same into memory that there is, from `at` on, a multiple of 4; without an object for a frame that has neither comment nor gap.
   * @returns Behind the block, or -1 where it does not fit; nothing was written then.
   */
  writeRecord(into: Uint8Array, at: number, frame: PlacedFrame, facts?: PacketFacts): number;
  /** The most octets that `writeRecord` takes for a frame of so many octets. */
  recordOctets(length: number, facts?: PacketFacts): number;
  /**
   * Fills memory with a block that says nothing and that every reader passes over, so that what comes behind it begins where it is wanted.
   * @param octets Of the block: a multiple of 4, `MIN_PADDING_OCTETS` at least.
   */
  writePadding(into: Uint8Array, at: number, octets: number): void;
  /** @returns An interface statistics block. */
  statistics(statistics: PcapngStatistics): Uint8Array;
}

/** The shortest block that `writePadding` makes. */
export const MIN_PADDING_OCTETS = MIN_BLOCK_BYTES;
/** The type of a block that only fills; the first of those that are left to whoever writes. @see draft-ietf-opsawg-pcapng, its registry of block types */
export const PADDING_BLOCK = 0x8000_0000;
const INTERFACE_STATISTICS_BLOCK = 5;
/** Of the section header: shb_hardware, shb_os, shb_userappl. */
const SECTION_OPTIONS = { hardware: 2, operatingSystem: 3, application: 4 } as const;
/** Of an interface: if_name, if_description, if_MACaddr, if_filter. */
const INTERFACE_OPTIONS = { name: 2, description: 3, hardwareAddress: 6, filter: 11 } as const;
/** Of statistics: isb_ifrecv, isb_ifdrop, isb_filteraccept, isb_osdrop, isb_usrdeliv. */
const COUNT_OPTIONS = { received: 4, droppedByInterface: 5, accepted: 6, droppedByKernel: 7, delivered: 8 } as const;
/** Of statistics: isb_starttime, isb_endtime. */
const TIME_OPTIONS = { startedAt: 2, endedAt: 3 } as const;
/** Before the text of a filter: it is text, not a program. */
const FILTER_IS_TEXT = "\0";
/** Ticks of 10^-9 s. */
const NANOSECOND_RESOLUTION = 9;
/** "Not said": the section may go on for as long as the file does. */
const UNKNOWN_SECTION_LENGTH = 0xffff_ffff;

/** @see draft-ietf-opsawg-pcapng 4.1 to 4.3, 4.6 */
export function createPcapngWriter(options: PcapngOptions): PcapngWriter {
  const order = options.byteOrder ?? "little";
  const snapLengths = options.interfaces.map(({ snapLength = MAX_CAPTURE_RECORD_BYTES }) => Math.min(snapLength, MAX_CAPTURE_RECORD_BYTES));
  const packets = new PacketBlockWriter(order, snapLengths);
  return {
    header() {
      const all = new Writer().put(sectionHeader(options, order));
      options.interfaces.forEach((one, index) => all.put(describe(one, snapLengths[index] ?? 0, order)));
      return all.finish();
    },
    record(frame) {
      const { bytes, seconds, nanoseconds, originalLength: wireLength = bytes.length, isOutgoing } = frame;
      const direction = isOutgoing === undefined ? {} : { isOutgoing };
      const into = new Uint8Array(packets.octets(bytes.length, frame));
      const end = packets.write(into, 0, { bytes, offset: 0, length: bytes.length, wireLength, seconds, nanoseconds, ...direction }, frame);
      return into.subarray(0, end);
    },
    writeRecord: (into, at, frame, facts) => packets.write(into, at, frame, facts),
    recordOctets: (length, facts) => packets.octets(length, facts),
    writePadding(into, at, octets) {
      const view = new DataView(into.buffer, into.byteOffset + at, octets);
      const little = order === "little";
      into.fill(0, at, at + octets);
      view.setUint32(0, PADDING_BLOCK, little);
      view.setUint32(4, octets, little);
      view.setUint32(octets - TRAILER_BYTES, octets, little);
    },
    statistics(statistics) {
      const body = new Writer();
      writeU32(body, order, statistics.interfaceId ?? 0);
      body.put(timeBytes(statistics.at, order)).put(encodeOptions(statisticsOptions(statistics, order), order));
      return encodeBlock(INTERFACE_STATISTICS_BLOCK, body.finish(), order);
    },
  };
}

function sectionHeader(options: PcapngOptions, order: ByteOrder): Uint8Array {
  const body = new Writer();
  writeU32(body, order, BYTE_ORDER_MAGIC);
  writeU16(body, order, 1);
  writeU16(body, order, 0);
  writeU32(body, order, UNKNOWN_SECTION_LENGTH);
  writeU32(body, order, UNKNOWN_SECTION_LENGTH);
  const texts = [
    ...textOptions(OPTION_COMMENT, options.comment), ...textOptions(SECTION_OPTIONS.hardware, options.hardware),
    ...textOptions(SECTION_OPTIONS.operatingSystem, options.operatingSystem), ...textOptions(SECTION_OPTIONS.application, options.application),
  ];
  return encodeBlock(SECTION_HEADER_BLOCK, body.put(encodeOptions(texts, order)).finish(), order);
}

function describe(one: PcapngInterface, snapLength: number, order: ByteOrder): Uint8Array {
  const body = new Writer();
  writeU16(body, order, one.linkType);
  body.zeros(2);
  writeU32(body, order, snapLength);
  const facts: readonly PcapngOption[] = [
    ...textOptions(INTERFACE_OPTIONS.name, one.name), ...textOptions(INTERFACE_OPTIONS.description, one.description),
    ...(one.hardwareAddress?.length === 6 ? [[INTERFACE_OPTIONS.hardwareAddress, one.hardwareAddress] as const] : []),
    [OPTION_TIME_RESOLUTION, Uint8Array.of(NANOSECOND_RESOLUTION)],
    ...textOptions(INTERFACE_OPTIONS.filter, one.filter === undefined ? undefined : FILTER_IS_TEXT + one.filter),
  ];
  return encodeBlock(INTERFACE_DESCRIPTION_BLOCK, body.put(encodeOptions(facts, order)).finish(), order);
}

function textOptions(code: number, text: string | undefined): readonly PcapngOption[] {
  return text === undefined ? [] : [textOption(code, text)];
}

function statisticsOptions(statistics: PcapngStatistics, order: ByteOrder): readonly PcapngOption[] {
  const times = (["startedAt", "endedAt"] as const).flatMap((name): readonly PcapngOption[] => {
    const time = statistics[name];
    return time ? [[TIME_OPTIONS[name], timeBytes(time, order)]] : [];
  });
  const counts = (Object.keys(COUNT_OPTIONS) as readonly (keyof typeof COUNT_OPTIONS)[]).flatMap((name) => {
    const count = statistics[name];
    return count === undefined ? [] : [countOption(COUNT_OPTIONS[name], count, order)];
  });
  return [...textOptions(OPTION_COMMENT, statistics.comment), ...times, ...counts];
}

function timeBytes(time: PcapngTime, order: ByteOrder): Uint8Array {
  const bytes = new Uint8Array(8);
  new TimeStampWriter().put(new DataView(bytes.buffer), 0, time, order === "little");
  return bytes;
}

function encodeBlock(type: number, body: Uint8Array, order: ByteOrder): Uint8Array {
  const padding = -body.length & 3;
  const length = 12 + body.length + padding;
  const writer = new Writer(length);
  writeU32(writer, order, type);
  writeU32(writer, order, length);
  writer.put(body).zeros(padding);
  writeU32(writer, order, length);
  return writer.finish();
}
