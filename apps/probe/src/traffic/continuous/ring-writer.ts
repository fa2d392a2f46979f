import { createFrameCursor, type FrameBlock } from "@lanthorn/packet-io";
import { type Clock, createId, type Log, toInstant } from "@lanthorn/runtime";
import type { BufferPool } from "../capture-files/buffer-pool.ts";
import { type CaptureFile, openCaptureFile } from "../capture-files/capture-file.ts";
import { createFrameCounts, type InterfaceCounters } from "../capture-files/counters.ts";
import type { DiskRoom } from "../capture-files/disk-room.ts";
import type { CaptureFileFacts } from "../capture-files/facts.ts";
import type { FileContents } from "../capture-files/file-contents.ts";
import type { CapturePrivacy } from "../capture-files/privacy.ts";
import type { Gap } from "../messages.ts";

/** Writes one file after the other, without waiting for the disk. */
export interface RingWriter {
  onBlock(block: FrameBlock, interfaceId: number): void;
  /** Frames that did not come here, or of which nobody knows how many: 0. */
  missing(interfaceId: number, frames: number, why: string, by: "kernel" | "probe"): void;
  /** Ends the file that is written; the next frame begins another. */
  rotate(): void;
  /** Some times a second: what is in memory goes to the disk, and a file that is old enough ends. */
  tick(): void;
  /** Waits until all that came is in files. */
  flush(): Promise<void>;
  /** The file that is written; null for none. */
  readonly current: CaptureFile | null;
  /** That one, and those that are ending: `onFinished` was not called for them yet. Oldest first. */
  unfinished(): readonly CaptureFile[];
  /** Frames that came and are in no file: the disk was too slow, or had no room. */
  readonly dropped: number;
  /** Why the last file ended early; null where it did not. */
  readonly problem: string | null;
  /** Ends everything that was begun. */
  close(): Promise<void>;
}

/** What is in memory is at most this old, so that a reader sees it before the file ends. */
const FLUSH_EVERY_MS = 2000;
/** So long after a file that could not be written the next is tried. */
const RETRY_MS = 1000;
/** A frame of 262,144 bytes, and what a file begins and ends with. */
const MIN_FILE_BYTES = 320 * 1024;

/** What files came to. Changed in place. */
interface Outcome {
  dropped: number;
  problem: string | null;
  /** Monotonic: no file is begun before. */
  retryAt: number;
}

interface RingWriterDeps {
  readonly folder: string;
  readonly interfaces: readonly string[];
  readonly snapLength: number;
  readonly application: string;
  readonly fileMs: number;
  /** The time before the first file of which nothing was kept; null for none. */
  readonly gap?: Gap | null;
  readonly pool: BufferPool;
  readonly room: DiskRoom;
  readonly privacy: () => CapturePrivacy;
  readonly maxBytes: () => number;
  readonly onFinished: (facts: CaptureFileFacts, contents: FileContents) => void;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly log: Pick<Log, "warn">;
}

/**
 * @param deps.maxBytes Of the next file.
 * @param deps.onFinished A file is closed, with what came into it. Its `path` is null where nothing is left of it.
 */
export function createRingWriter(deps: RingWriterDeps): RingWriter {
  const { clock, interfaces } = deps;
  const cursor = createFrameCursor();
  const finishing = new Map<CaptureFile, Promise<void>>();
  let current: CaptureFile | null = null;
  let counts = createFrameCounts(interfaces.length);
  let remark = deps.gap ? ` Before it nothing was recorded from ${toInstant(deps.gap.from)} to ${toInstant(deps.gap.to)}: ${deps.gap.reason}.` : "";
  let openedAt = 0;
  let flushedAt = 0;
  const outcome: Outcome = { dropped: 0, problem: null, retryAt: Number.NEGATIVE_INFINITY };
  let isClosed = false;
  const unsaid = createUnsaid();

  function begin(): CaptureFile | null {
    if (isClosed || clock.monotonic() < outcome.retryAt) return null;
    counts = createFrameCounts(interfaces.length);
    openedAt = flushedAt = clock.monotonic();
    current = openFile(deps, remark);
    remark = "";
    for (const gap of unsaid.take()) missing(...gap);
    return current;
  }

  function rotate(): void {
    if (!current) return;
    const file = current;
    current = null;
    finishing.set(file, endFile(file, counts.all, outcome, deps).finally(() => finishing.delete(file)));
  }

  function missing(interfaceId: number, frames: number, why: string, by: "kernel" | "probe"): void {
    if (!current) return unsaid.add(interfaceId, frames, why, by);
    current.missing(interfaceId, frames, why);
    counts.missing(interfaceId, frames, by);
  }

  /** @returns Whether the frame at the cursor is in a file; a file that takes no more ends, and the next one takes it. */
  function take(interfaceId: number): boolean {
    for (let file = current ?? begin(), tries = 0; file && tries < 2; file = begin(), tries += 1) {
      const added = file.add(cursor, interfaceId);
      if (added === "added") counts.added(interfaceId, 1);
      if (added !== "full") return added === "added";
      rotate();
    }
    return false;
  }

  return {
    missing, rotate,
    unfinished: () => [...finishing.keys(), ...(current ? [current] : [])],
    onBlock(block, interfaceId) {
      cursor.start(block);
      let lost = block.frames;
      while (cursor.next() && take(interfaceId)) lost -= 1;
      outcome.dropped += lost;
      if (lost > 0) missing(interfaceId, lost, "the disk was too slow, or had no room", "probe");
    },
    tick() {
      const now = clock.monotonic();
      if (current && now - openedAt >= deps.fileMs && current.contents.packets > 0) rotate();
      if (now - flushedAt < FLUSH_EVERY_MS) return;
      flushedAt = now;
      void current?.flush();
    },
    flush: async () => void await Promise.all([current?.flush(), ...finishing.values()]),
    get current() {
      return current;
    },
    get dropped() {
      return outcome.dropped;
    },
    get problem() {
      return outcome.problem;
    },
    async close() {
      isClosed = true;
      rotate();
      await Promise.all(finishing.values());
    },
  };
}

/** What was missing while there was no file: the next one says it. One gap for each interface and whoever dropped the frames. */
function createUnsaid() {
  const gaps = new Map<string, Parameters<RingWriter["missing"]>>();
  return {
    add(...[interfaceId, frames, why, by]: Parameters<RingWriter["missing"]>): void {
      const [, before = 0] = gaps.get(`${interfaceId} ${by}`) ?? [];
      gaps.set(`${interfaceId} ${by}`, [interfaceId, before + frames, why, by]);
    },
    take() {
      const all = [...gaps.values()];
      gaps.clear();
      return all;
    },
  };
}

/** @param remark Is said behind what each file says of itself. */
function openFile(deps: RingWriterDeps, remark: string): CaptureFile {
  return openCaptureFile({
    room: deps.room, pool: deps.pool, folder: deps.folder, id: createId(), interfaces: deps.interfaces.map((name) => ({ name, snapLength: deps.snapLength })),
    filter: "", comment: `A part of what was recorded continuously.${remark}`, maxBytes: Math.max(MIN_FILE_BYTES, deps.maxBytes()), privacy: deps.privacy(),
    about: null, application: deps.application, clock: deps.clock,
  });
}

async function endFile(file: CaptureFile, counted: readonly InterfaceCounters[], outcome: Outcome, deps: RingWriterDeps): Promise<void> {
  const facts = await file.finish(counted);
  const { state, detail, packets } = facts.recorded;
  outcome.dropped += file.contents.packets - packets;
  if (state === "failed") outcome.retryAt = deps.clock.monotonic() + RETRY_MS;
  // A file that the oldest ones made no room for is cut; the next one may take its room, and all is well then.
  if (state !== "whole" && outcome.problem !== detail) deps.log.warn({ folder: deps.folder, state, reason: detail }, "a file of the continuous capture ended early");
  outcome.problem = state === "whole" ? null : detail;
  deps.onFinished(facts, file.contents);
}
