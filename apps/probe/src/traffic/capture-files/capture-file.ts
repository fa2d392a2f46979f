import { mkdir } from "node:fs/promises";
import { machine, release, type as systemName } from "node:os";
import type { PcapRecorded } from "@lanthorn/contract/uplink";
import { createPcapngWriter, type PcapngWriter } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { type BlockStore, createBlockStore } from "./block-store.ts";
import { type BufferPool, MAX_PADDING_BYTES, ROOM_BYTES } from "./buffer-pool.ts";
import type { InterfaceCounters } from "./counters.ts";
import type { DiskRoom } from "./disk-room.ts";
import { type CaptureFileFacts, partPath, removeCaptureFile, writeNote } from "./facts.ts";
import { createContents, type FileContents, type GrowingContents } from "./file-contents.ts";
import { cleanComment, createFrameGaps, type FrameGaps } from "./frame-gaps.ts";
import type { FrameCursor, FrameView } from "@lanthorn/packet-io";
import { createOrderedWriter, type OrderedWriter } from "./ordered-writer.ts";
import { type CapturePrivacy, createPrivacyCut, narrower } from "./privacy.ts";
import { beginRecord, type CapturedInterface, settleFile, statisticsOf, TRAILER_BYTES } from "./settle-file.ts";

/** How a capture file is to be written. */
export interface CaptureFileOptions {
  readonly room: DiskRoom;
  readonly pool: BufferPool;
  /** Made if it is not there. */
  readonly folder: string;
  /** A UUID: the capture's id, and the file's name. */
  readonly id: string;
  /** In the order of their ids, from 0. */
  readonly interfaces: readonly CapturedInterface[];
  /** What chose the frames, as pcap-filter(7); empty for all. */
  readonly filter: string;
  /** What the file is, in words: stands in its header. */
  readonly comment: string;
  /** The file is never longer. */
  readonly maxBytes: number;
  readonly privacy: CapturePrivacy;
  /** What is reported of the file beside what is in it; null for a file of which nothing is reported, and that has no note and no checksum. */
  readonly about: Pick<PcapRecorded, "trigger" | "alert_ids" | "macs" | "ips"> | null;
  readonly application: string;
  readonly clock: Pick<Clock, "now">;
}

/** A capture file that is written: `<id>.pcapng.part` until it is whole. */
export interface CaptureFile {
  readonly id: string;
  /**
   * Takes a frame, which is copied. Never throws and never waits.
   * @param comment Of the frame, at most 1,000 characters.
   * @param flow By which the flow table knows the frame's flow; 0, unless given, where it does not.
   * @returns `busy` while all buffers wait for the disk: wait for `ready`, or do without the frame and say so with `missing`. `full` when
   * nothing more is taken: the file is as long as it may be, the budget is spent, the disk has no room, or it failed.
   */
  add(frame: FrameView, interfaceId: number, comment?: string, flow?: number): "added" | "busy" | "full";
  /**
   * Takes frames as `add` does, for as long as they need nothing but to be copied: it is for them that a file is written all day.
   * @param frames Stands before the first one.
   * @param flows Of frame after frame, from `first` on.
   * @returns Whether the cursor stands at a frame that was not taken: that one is for `add`. How many were taken, `contents` says.
   */
  addRun(frames: FrameCursor, interfaceId: number, flows: Uint32Array, first: number): boolean;
  /** Frames that belong here and are not, 0 for an unknown number. The next frame of the interface gets a comment that says so, or its statistics at the end. */
  missing(interfaceId: number, frames: number, why: string): void;
  /** From the next frame on this is left out too, and its comment says so. What a file does without it keeps doing without. */
  narrow(privacy: CapturePrivacy): void;
  /** Waits until a buffer is free again. */
  ready(): Promise<void>;
  /** Waits until all that was added is in the file, which then ends with a whole block. */
  flush(): Promise<void>;
  /** Length of the file once all is written. */
  readonly bytes: number;
  /** So many more octets of blocks it takes. */
  readonly left: number;
  /** What is in it so far. */
  readonly contents: FileContents;
  /**
   * Writes the statistics, waits for the disk, and gives the file its name. Never rejects: see `state` of what it gives back.
   * @param counters By interface; what is not there counts as 0.
   * @param lack Why it lacks what was asked for: it is `cut` then. "" where it does not.
   */
  finish(counters: readonly InterfaceCounters[], lack?: string): Promise<CaptureFileFacts>;
  /** Removes the file. */
  abandon(): Promise<void>;
}

/** Opens a file; what goes wrong with that is seen at `add` and `finish`. */
export function openCaptureFile(options: CaptureFileOptions): CaptureFile {
  const { folder, id, interfaces, room, clock } = options;
  const privacy = createFilePrivacy(options);
  const contents = createContents({ isSummed: options.about !== null, linkType: interfaces[0]?.linkType });
  const gaps = createFrameGaps(interfaces.length);
  const isPadded = options.about === null;
  const trailerBytes = TRAILER_BYTES * interfaces.length;
  const begun = beginRecord(options, clock.now());
  const pcapng = createFormat(options, privacy.words);
  const store = createBlockStore({
    path: partPath(folder, id), room, trailerBytes, isHashed: options.about !== null, isDurable: options.about !== null, isDirect: isPadded, writer: options.pool.writer,
    after: mkdir(folder, { recursive: true, mode: 0o700 }).then(() => options.about && writeNote(folder, { recorded: begun, is_reported: false })),
  });
  const writer = createOrderedWriter({ store, pool: options.pool, pad: isPadded ? pcapng.writePadding : null });
  const maxBytes = options.maxBytes - trailerBytes - (isPadded ? MAX_PADDING_BYTES : 0);
  const frames = createFrames({ interfaces, maxBytes, privacy, contents, gaps, pcapng, store, writer });

  async function flush(): Promise<void> {
    frames.putHeader();
    await writer.flush();
  }

  return {
    id, add: frames.add, addRun: frames.addRun, flush, contents,
    missing: gaps.add,
    narrow: privacy.narrow,
    ready: writer.ready,
    get bytes() {
      return frames.bytes;
    },
    get left() {
      return maxBytes - frames.bytes;
    },
    async finish(counters: readonly InterfaceCounters[], lack = "") {
      frames.isFull = true;
      await flush();
      const blocks = statisticsOf({ pcapng, interfaces, counters, gaps, words: privacy.words, from: Date.parse(begun.started_at ?? ""), to: clock.now() });
      const written = await store.finish(frames.isBegun ? blocks : Buffer.concat([frames.header, blocks]));
      const last = { ...begun, headers_only: privacy.now.headersOnly, detail: privacy.change };
      return settleFile({ ...options, begun: last, written, fault: store.fault, lack, contents, counters });
    },
    async abandon() {
      frames.isFull = true;
      await writer.flush();
      const written = await store.finish(Buffer.alloc(0));
      if (written) room.removed(written.bytes);
      await removeCaptureFile(folder, id);
    },
  };
}

/** What frames are written with. */
interface FrameParts {
  readonly interfaces: readonly CapturedInterface[];
  /** Of header and frames. */
  readonly maxBytes: number;
  readonly privacy: ReturnType<typeof createFilePrivacy>;
  readonly contents: GrowingContents;
  readonly gaps: FrameGaps;
  readonly pcapng: PcapngWriter;
  readonly store: Pick<BlockStore, "fault">;
  readonly writer: OrderedWriter;
}

/** Puts a file's header and frames into buffers. */
function createFrames({ interfaces, maxBytes, privacy, contents, gaps, pcapng, store, writer }: FrameParts) {
  const header = pcapng.header();

  function putHeader(): boolean {
    if (frames.isBegun) return true;
    if (!writer.reserve(header.length)) return false;
    writer.buffer.set(header, writer.at);
    writer.at += header.length;
    frames.isBegun = true;
    return true;
  }

  function add(frame: FrameView, interfaceId: number, text?: string, flow = 0): "added" | "busy" | "full" {
    if (frames.isFull || store.fault !== null || !gaps.has(interfaceId)) return "full";
    const facts = gaps.factsOf(interfaceId, privacy.comment(text));
    const kept = Math.min(privacy.keptLength(frame), interfaces[interfaceId]?.snapLength ?? 0);
    const most = kept + MAX_RECORD_OVERHEAD + 4 * (facts.comment?.length ?? 0);
    if (frames.bytes + most > maxBytes || most > ROOM_BYTES) {
      frames.isFull = true;
      return "full";
    }
    if (!putHeader() || !writer.reserve(most)) return store.fault === null ? "busy" : "full";
    const end = pcapng.writeRecord(writer.buffer, writer.at, kept < frame.length ? cutTo(frame, kept) : frame, facts);
    contents.add(frame, writer.begin + writer.at, flow);
    writer.at = end;
    frames.bytes = writer.begin + end;
    gaps.written(interfaceId);
    privacy.said();
    return "added";
  }

  function addRun(run: FrameCursor, interfaceId: number, flows: Uint32Array, first: number): boolean {
    const { buffer, begin } = writer;
    const facts = frames.isFull || store.fault !== null || !privacy.isWhole() ? null : gaps.plainFacts(interfaceId);
    // Nothing fits where there is no buffer, or something is to be said.
    const longest = facts === null || buffer.length === 0 ? -1 : interfaces[interfaceId]?.snapLength ?? -1;
    const last = Math.min(ROOM_BYTES, maxBytes - begin) - MAX_RECORD_OVERHEAD;
    for (let index = first; run.next(); index += 1) {
      const { at } = writer;
      if (facts === null || run.length > longest || at + run.length > last) return true;
      writer.at = pcapng.writeRecord(buffer, at, run, facts);
      frames.bytes = begin + writer.at;
      contents.add(run, begin + at, flows[index]);
    }
    return false;
  }

  const frames = { header, putHeader, add, addRun, isFull: false, isBegun: false, bytes: header.length };
  return frames;
}

/** What is left out of a file's frames, and that this has changed while it was written. */
function createFilePrivacy({ privacy, interfaces, clock }: CaptureFileOptions) {
  const linkType = interfaces[0]?.linkType;
  const begun = createPrivacyCut(privacy, linkType);
  let isToSay = false;
  const file = {
    now: privacy,
    words: begun.words,
    /** When it changed, in words; "" where it did not. */
    change: "",
    /** Octets of a frame that are kept. */
    keptLength: begun.keptLength,
    narrow(more: CapturePrivacy) {
      file.now = narrower(file.now, more);
      const { words, keptLength } = createPrivacyCut(file.now, linkType);
      if (words === file.words) return;
      file.words = words;
      file.keptLength = keptLength;
      isToSay = true;
      file.change = `Less is kept since ${new Date(clock.now()).toISOString()}. ${words}`.slice(0, MAX_CHANGE);
    },
    /** Whether the next frame is written as it is, without a word. */
    isWhole: () => file.words === "" && !isToSay,
    /** Of the next frame. */
    comment: (text: string | undefined) => (isToSay ? [text ?? "", `from this frame on: ${file.words}`].filter((part) => part !== "").join("; ") : text),
    said() {
      isToSay = false;
    },
  };
  return file;
}

/** Of what is reported of a change, in characters. */
const MAX_CHANGE = 300;
/** Of a block beside frame and comment: head, padding, flags, what is missing, the heads and ends of options, trailer. */
const MAX_RECORD_OVERHEAD = 80;

/** The front of a frame. It stands for itself during one call: what is cut is cut for each frame. */
const cutTo = ({ bytes, offset, wireLength, seconds, nanoseconds, isOutgoing }: FrameView, length: number): FrameView =>
  ({ bytes, offset, length, wireLength, seconds, nanoseconds, isOutgoing });

function createFormat(options: CaptureFileOptions, privacyWords: string): PcapngWriter {
  return createPcapngWriter({
    hardware: machine(), operatingSystem: `${systemName()} ${release()}`, application: options.application,
    comment: cleanComment([options.comment, privacyWords].filter((text) => text !== "").join(" ")),
    interfaces: options.interfaces.map(({ name, description, mac, linkType = 1, snapLength }) => ({
      name, linkType, snapLength, ...(description !== undefined && { description }), ...(mac && { hardwareAddress: mac }),
      ...(options.filter !== "" && { filter: cleanComment(options.filter) }),
    })),
  });
}
