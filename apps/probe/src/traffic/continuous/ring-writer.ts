import { createFrameCursor, type FrameBlock } from "@lanthorn/packet-io";
import { createBackoff } from "@lanthorn/runtime";
import type { BufferPool } from "../capture-files/buffer-pool.ts";
import type { CaptureFile } from "../capture-files/capture-file.ts";
import type { FlowNumbers } from "../ring/flow-numbers.ts";
import { createFileSequence, type FileSequence, type FileSequenceDeps, type OpenFile } from "./file-sequence.ts";

/** Writes one file after the other, without waiting for the disk. */
export interface RingWriter {
  onBlock(block: FrameBlock, interfaceId: number): void;
  /**
   * Whether there is a buffer for a block. Where a disk stands still, or takes less than what comes, the next file is begun, which the kernel's cache takes.
   * @param waiting Which part of the ring waits: 0 to 1.
   */
  isReady(waiting: number): boolean;
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

/** Of the kernel's, with room for comments. */
const MOST_OF_A_BLOCK = 272 * 1024;
/** What is in memory is at most this old, so that a reader sees it before the file ends. */
const FLUSH_EVERY_MS = 2000;
/** Disks answer within some milliseconds. One that cleans up does not for a quarter of a second now and then, and the file that it is writing can be written in no other way meanwhile. */
const STALL_MS = 60;
/** Where so much of the ring waits, the disk takes less than what comes; above what waits where only this process is late, and below what is waited for at all. */
const TOO_SLOW_ABOVE = 0.45;
const NO_FLOWS = new Uint32Array(0);
/** So long a file beside goes on at least: longer each time that the disk stands still again soon, or a slow one would make some files a second. */
const BACK_FIRST_MS = 200;
const BACK_LONGEST_MS = 60_000;
const SOON_MS = 60_000;

/**
 * @param deps.fileMs A file ends when it is so old.
 * @param deps.spare From which files are written, through the kernel's cache, while the disk stands still or takes less than what comes.
 * @param deps.flowsOf What the flow table knows of a block.
 */
export function createRingWriter(
  deps: FileSequenceDeps & { readonly fileMs: number; readonly pool: BufferPool; readonly spare: BufferPool; readonly flowsOf: FlowNumbers["of"] },
): RingWriter {
  const { clock } = deps;
  const cursor = createFrameCursor();
  const files = createFileSequence(deps);
  const unsaid = createUnsaid();
  let dropped = 0;
  let flushedAt = 0;
  const ways = createWays(deps, files);

  function begin(): OpenFile | null {
    const open = ways.begin();
    if (open === null) return null;
    flushedAt = open.openedAt;
    for (const gap of unsaid.take()) missing(...gap);
    return open;
  }

  function missing(interfaceId: number, frames: number, why: string, by: "kernel" | "probe"): void {
    if (!files.current) return unsaid.add(interfaceId, frames, why, by);
    files.current.file.missing(interfaceId, frames, why);
    files.current.counts.missing(interfaceId, frames, by);
  }

  /** @returns The file that took the frame at the cursor: this one, or, where it takes no more and ends, the next. Null where none did. */
  function take(current: OpenFile, interfaceId: number, flow: number): OpenFile | null {
    for (let open: OpenFile | null = current, tries = 0; open && tries < 2; open = begin(), tries += 1) {
      const added = open.file.add(cursor, interfaceId, undefined, flow);
      if (added === "added") open.counts.added(interfaceId, 1);
      if (added !== "full") return added === "added" ? open : null;
      files.rotate();
    }
    return null;
  }

  return {
    missing, rotate: files.rotate,
    isReady: (waiting) => ways.isReady(waiting, begin),
    unfinished: () => [...files.ending(), ...(files.current ? [files.current.file] : [])],
    onBlock(block, interfaceId) {
      const flows = deps.flowsOf(block) ?? NO_FLOWS;
      let lost = block.frames;
      cursor.start(block);
      for (let open = files.current ?? begin(); open !== null;) {
        const before = open.file.contents.packets;
        const isLeft = open.file.addRun(cursor, interfaceId, flows, block.frames - lost);
        const added = open.file.contents.packets - before;
        open.counts.added(interfaceId, added);
        lost -= added;
        open = isLeft ? take(open, interfaceId, flows[block.frames - lost] ?? 0) : null;
        if (open !== null) lost -= 1;
      }
      dropped += lost;
      if (lost > 0) missing(interfaceId, lost, "the disk was too slow, or had no room", "probe");
    },
    tick() {
      const now = clock.monotonic();
      if (files.current && now - files.current.openedAt >= deps.fileMs && files.current.file.contents.packets > 0) files.rotate();
      if (now - flushedAt < FLUSH_EVERY_MS) return;
      flushedAt = now;
      void files.current?.file.flush();
    },
    flush: async () => void await Promise.all([files.current?.file.flush(), files.ended()]),
    get current() {
      return files.current?.file ?? null;
    },
    get dropped() {
      return dropped + files.lost;
    },
    get problem() {
      return files.problem;
    },
    close() {
      files.close();
      files.rotate();
      return files.ended();
    },
  };
}

/** Past the kernel's cache, or by way of it while the disk stands still or takes less than what comes. A file can be written in one way only: for the other one another file is begun. */
function createWays({ pool, spare, clock }: Pick<Parameters<typeof createRingWriter>[0], "pool" | "spare" | "clock">, files: FileSequence) {
  const backoff = createBackoff({ firstMs: BACK_FIRST_MS, longestMs: BACK_LONGEST_MS, random: () => 1 });
  let waiting = 0;
  /** Until when files go by way of the cache at least; null while they do not. */
  let besideUntil: number | null = null;
  let wentBackAt = Number.NEGATIVE_INFINITY;
  const isStill = () => pool.writer.stalledMs() >= STALL_MS;
  const isTooSlow = () => waiting >= TOO_SLOW_ABOVE || isStill();
  const mayGoBack = () => clock.monotonic() >= (besideUntil ?? 0) && pool.free > 0 && !isStill();
  const isNextBeside = () => (besideUntil === null ? pool.free === 0 && isTooSlow() : !mayGoBack());
  const next = () => (isNextBeside() ? spare : pool);
  return {
    /** Begins a file, in the way that is better now. @returns Null while none may be begun. */
    begin(): OpenFile | null {
      const open = files.begin(next());
      if (open?.pool === spare && besideUntil === null) {
        if (open.openedAt - wentBackAt >= SOON_MS) backoff.reset();
        besideUntil = open.openedAt + backoff.next();
      } else if (open?.pool === pool && besideUntil !== null) {
        [besideUntil, wentBackAt] = [null, open.openedAt];
      }
      return open;
    },
    /** Whether there are buffers for a block, in this file or in one that `begin` begins now. */
    isReady(inRing: number, begin: () => OpenFile | null): boolean {
      waiting = inRing;
      const free = () => (files.current?.pool ?? next()).free;
      if (free() === 0 && files.current && (files.current.pool === pool ? isTooSlow() : mayGoBack())) {
        files.rotate();
        begin();
      }
      // A block may go beyond the end of a buffer and of the file: it takes two buffers then.
      if (free() < 2 && files.current && files.current.file.left < MOST_OF_A_BLOCK) files.rotate();
      return free() > 0;
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
