import { closeSync, openSync, readSync } from "node:fs";
import { type CaptureReader, type CaptureRecord, createCaptureReader, linkTypeName, type Malformed } from "@lanthorn/packets";
import type { Capture, CapturedFrame, OnFrames, OnLost, PacketIoClock } from "./capture-types.ts";
import { PacketIoError } from "../errors.ts";
import { BATCH_FRAMES } from "./frame-queue.ts";
import { takeTurn } from "./take-turn.ts";

const CHUNK_BYTES = 256 * 1024;

/** LINKTYPE_ETHERNET. @see https://www.tcpdump.org/linktypes.html */
const ETHERNET = 1;

/** Timers of Node hold 24 days; a file may hold years of silence. */
const MAX_WAIT_MS = 3_600_000;

/** Which file to read, how fast, and who takes its frames. */
export interface ReplayOptions {
  /** A pcap or pcapng file of any size. */
  readonly path: string;
  readonly clock: PacketIoClock;
  /** With the pauses between the frames, or as fast as `onFrames` takes them. Times in the frames are the file's in both. */
  readonly pace: "as-recorded" | "at-once";
  /** As a capture's. Frames that are not Ethernet are left out and counted as `droppedByReader`. */
  readonly onFrames: OnFrames;
  /** The file was read to its end; the replay is closed by then. Not called after `onLost`. */
  readonly onEnd: () => void;
  /**
   * `file-unreadable` where a file ends in the middle of a record or goes on in nonsense, after every whole frame before it was handed
   * over; `interface-unsupported` where not one frame is Ethernet.
   */
  readonly onLost: OnLost;
}

/**
 * Plays a capture file as if its frames came from an interface, with bounded memory.
 * @throws PacketIoError `file-unreadable` when there is no such file, or it begins as no capture file does.
 */
export function openReplay(options: ReplayOptions): Capture {
  const source = openSource(options.path);
  const pace = options.pace === "at-once" ? null : createPace(options.clock);
  let open = true;
  let frames = 0;
  const others = createCount();
  let waiting: readonly CapturedFrame[] = toFrames(source.first.records);
  /** How many of them were handed over. */
  let next = 0;
  let malformed = source.first.malformed;
  let ended = false;
  let cancel = () => {};

  function toFrames(records: readonly CaptureRecord[]): readonly CapturedFrame[] {
    const found: CapturedFrame[] = [];
    for (const { linkType, seconds, nanoseconds, bytes, originalLength } of records) {
      if (linkType === ETHERNET) found.push({ atMicroseconds: seconds * 1_000_000 + Math.floor(nanoseconds / 1000), bytes, wireLength: originalLength });
      else others.add(linkType);
    }
    return found;
  }
  function soon(): void {
    const turn = setImmediate(play);
    cancel = () => clearImmediate(turn);
  }
  function close(): void {
    cancel();
    if (open) closeSync(source.file);
    open = false;
  }
  function finish(): void {
    const failure = malformed ?? source.reader.end();
    close();
    if (failure) options.onLost(describeMalformed(options.path, failure, frames));
    else if (frames === 0 && others.count() > 0) {
      options.onLost(new PacketIoError("interface-unsupported", `${options.path} holds ${others.count()} frames, none of them Ethernet: the first is ${linkTypeName(others.first())}`));
    } else options.onEnd();
  }
  function readMore(): void {
    const chunk = source.read();
    ended = chunk.length === 0;
    const { records, malformed: fault } = source.reader.push(chunk);
    waiting = toFrames(records);
    next = 0;
    malformed = fault;
  }
  function takeBatch(end: number): readonly CapturedFrame[] {
    if (!open) return [];
    const batch = waiting.slice(next, Math.min(end, next + BATCH_FRAMES));
    next += batch.length;
    frames += batch.length;
    return batch;
  }
  function play(): void {
    if (next === waiting.length) {
      if (malformed || ended) return finish();
      try {
        readMore();
      } catch (cause) {
        close();
        return options.onLost(new PacketIoError("file-unreadable", `cannot read on in ${options.path}`, { cause }));
      }
      return soon();
    }
    const end = pace ? next + pace.countDue(waiting.slice(next)) : waiting.length;
    if (end === next) {
      cancel = options.clock.after(pace?.waitMs() ?? 0, play);
      return;
    }
    soon();
    takeTurn({ clock: options.clock, take: () => takeBatch(end), onFrames: options.onFrames });
  }
  soon();
  return {
    counters: () => ({ frames, droppedByKernel: 0, droppedByInterface: 0, droppedByReader: others.count() }),
    async close() {
      close();
    },
  };
}

function openSource(path: string) {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const opened = file;
    const read = (): Uint8Array => {
      // A new one each time: frames are views on it. No Buffer: to take a view of one costs several times as much.
      const chunk = new Uint8Array(CHUNK_BYTES);
      return chunk.subarray(0, readSync(opened, chunk));
    };
    const reader: CaptureReader = createCaptureReader();
    const chunk = read();
    const first = reader.push(chunk);
    if (chunk.length === 0) throw new PacketIoError("file-unreadable", `${path} is empty`);
    if (first.malformed && first.records.length === 0) throw describeMalformed(path, first.malformed, 0);
    return { file: opened, read, reader, first };
  } catch (cause) {
    if (file !== undefined) closeSync(file);
    if (cause instanceof PacketIoError) throw cause;
    throw new PacketIoError("file-unreadable", `cannot read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Counts numbers, and keeps the first of them. */
function createCount() {
  let count = 0;
  let first = 0;
  return {
    add(value: number): void {
      if (count === 0) first = value;
      count += 1;
    },
    count: () => count,
    first: () => first,
  };
}

function describeMalformed(path: string, failure: Malformed, frames: number): PacketIoError {
  const what = failure.code === "truncated" ? "ends in the middle of a record" : "stops being a pcap or pcapng file";
  return new PacketIoError("file-unreadable", `${path} ${what} at octet ${failure.offset}, after ${frames} frames`);
}

/** Lays the file's time over the clock's. Steps back in time, and frames without one, count as no pause. */
function createPace(clock: PacketIoClock): { countDue(frames: readonly CapturedFrame[]): number; waitMs(): number } {
  let previous = 0;
  let dueAt: number | null = null;
  /** The frame whose pause is already in `dueAt`. */
  let counted: CapturedFrame | undefined;
  return {
    countDue(frames) {
      const now = clock.monotonic();
      let due = 0;
      for (const frame of frames) {
        if (frame !== counted) {
          const pauseMs = previous > 0 && frame.atMicroseconds > previous ? (frame.atMicroseconds - previous) / 1000 : 0;
          dueAt = (dueAt ?? now) + pauseMs;
          previous = frame.atMicroseconds;
          counted = frame;
        }
        if ((dueAt ?? now) > now || due === BATCH_FRAMES) break;
        due += 1;
      }
      return due;
    },
    waitMs: () => Math.min(Math.max((dueAt ?? 0) - clock.monotonic(), 0), MAX_WAIT_MS),
  };
}
