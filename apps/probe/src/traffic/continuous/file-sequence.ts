import { type Clock, createId, type Log, toInstant } from "@lanthorn/runtime";
import type { BufferPool } from "../capture-files/buffer-pool.ts";
import { type CaptureFile, openCaptureFile } from "../capture-files/capture-file.ts";
import { createFrameCounts, type FrameCounts, type InterfaceCounters } from "../capture-files/counters.ts";
import type { DiskRoom } from "../capture-files/disk-room.ts";
import type { CaptureFileFacts } from "../capture-files/facts.ts";
import type { FileContents } from "../capture-files/file-contents.ts";
import type { CapturePrivacy } from "../capture-files/privacy.ts";
import type { Gap } from "../messages.ts";

/** Files that follow each other: one is open, those before it are ending. */
export interface FileSequence {
  /** @param pool From which it is written. @returns A new file; null while none may be begun. */
  begin(pool: BufferPool): OpenFile | null;
  /** Ends the file that is open; it goes on in `unfinished` until it is closed. */
  rotate(): void;
  /** The file that is open; null for none. */
  readonly current: OpenFile | null;
  /** Files that are ending, oldest first. */
  ending(): readonly CaptureFile[];
  /** Waits until those that are ending have ended. */
  ended(): Promise<void>;
  /** Frames that came into files and were not written. */
  readonly lost: number;
  /** Why the last file ended early; null where it did not. */
  readonly problem: string | null;
  /** No other file is begun. */
  close(): void;
}

/** The file that is open, with what was counted for it. */
export interface OpenFile {
  readonly file: CaptureFile;
  readonly pool: BufferPool;
  readonly counts: FrameCounts;
  /** Monotonic milliseconds. */
  readonly openedAt: number;
}

/** What files are made of. */
export interface FileSequenceDeps {
  readonly folder: string;
  readonly interfaces: readonly string[];
  readonly snapLength: number;
  readonly application: string;
  /** The time before the first file of which nothing was kept; null for none. */
  readonly gap?: Gap | null;
  readonly room: DiskRoom;
  readonly privacy: () => CapturePrivacy;
  /** Of the next file. */
  readonly maxBytes: () => number;
  /** A file is closed, with what came into it. Its `path` is null where nothing is left of it. */
  readonly onFinished: (facts: CaptureFileFacts, contents: FileContents) => void;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly log: Pick<Log, "warn">;
}

/** So long after a file that could not be written the next is tried. */
const RETRY_MS = 1000;
/** A frame of 262,144 bytes, and what a file begins and ends with. */
const MIN_FILE_BYTES = 320 * 1024;

/** What files came to. Changed in place. */
interface Outcome {
  lost: number;
  problem: string | null;
  /** Monotonic: no file is begun before. */
  retryAt: number;
}

/** Opens one file after the other, and ends them without waiting. */
export function createFileSequence(deps: FileSequenceDeps): FileSequence {
  const { clock } = deps;
  const finishing = new Map<CaptureFile, Promise<void>>();
  const outcome: Outcome = { lost: 0, problem: null, retryAt: Number.NEGATIVE_INFINITY };
  let current: OpenFile | null = null;
  let remark = deps.gap ? ` Before it nothing was recorded from ${toInstant(deps.gap.from)} to ${toInstant(deps.gap.to)}: ${deps.gap.reason}.` : "";
  let isClosed = false;
  return {
    begin(pool) {
      const openedAt = clock.monotonic();
      if (isClosed || openedAt < outcome.retryAt) return null;
      current = { file: openFile(deps, pool, remark), pool, counts: createFrameCounts(deps.interfaces.length), openedAt };
      remark = "";
      return current;
    },
    rotate() {
      if (!current) return;
      const { file, counts } = current;
      current = null;
      finishing.set(file, endFile(file, counts.all, outcome, deps).finally(() => finishing.delete(file)));
    },
    get current() {
      return current;
    },
    ending: () => [...finishing.keys()],
    ended: async () => void await Promise.all(finishing.values()),
    get lost() {
      return outcome.lost;
    },
    get problem() {
      return outcome.problem;
    },
    close() {
      isClosed = true;
    },
  };
}

/** @param remark Is said behind what each file says of itself. */
function openFile(deps: FileSequenceDeps, pool: BufferPool, remark: string): CaptureFile {
  return openCaptureFile({
    room: deps.room, pool, folder: deps.folder, id: createId(), interfaces: deps.interfaces.map((name) => ({ name, snapLength: deps.snapLength })),
    filter: "", comment: `A part of what was recorded continuously.${remark}`, maxBytes: Math.max(MIN_FILE_BYTES, deps.maxBytes()), privacy: deps.privacy(),
    about: null, application: deps.application, clock: deps.clock,
  });
}

async function endFile(file: CaptureFile, counted: readonly InterfaceCounters[], outcome: Outcome, deps: FileSequenceDeps): Promise<void> {
  const facts = await file.finish(counted);
  const { state, detail, packets } = facts.recorded;
  outcome.lost += file.contents.packets - packets;
  if (state === "failed") outcome.retryAt = deps.clock.monotonic() + RETRY_MS;
  // A file that the oldest ones made no room for is cut; the next one may take its room, and all is well then.
  if (state !== "whole" && outcome.problem !== detail) deps.log.warn({ folder: deps.folder, state, reason: detail }, "a file of the continuous capture ended early");
  outcome.problem = state === "whole" ? null : detail;
  deps.onFinished(facts, file.contents);
}
