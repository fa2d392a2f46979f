import { statfsSync } from "node:fs";
import type { Clock } from "@lanthorn/runtime";

/** The free space of one file system, of which a floor is never used. */
export interface FreeSpace {
  /**
   * Whether so many more bytes leave the floor untouched, all that was claimed and is not written yet counted.
   * @param extraFloorBytes Above the floor, also left untouched.
   */
  holds(bytes: number, extraFloorBytes: number): boolean;
  /** Counts bytes as written before they are. */
  claim(bytes: number): void;
  /** What was claimed at once is written now, or will not be. */
  settle(bytes: number): void;
  /** Bytes above the floor that are free now, as the file system says; below 0 where others took from it. */
  free(): number;
}

/** Why a file may not grow: the budget is spent, or the disk's floor is reached. */
export type RoomRefusal = "budget" | "floor";

/** What files of one kind may take on the disk. Room is claimed before it is written. */
export interface DiskRoom {
  /** @returns Null when there is room for so many bytes, which are then counted; else why not. */
  claim(bytes: number): Promise<RoomRefusal | null>;
  /** What was claimed, as it was claimed, is on the disk: `written` of `claimed` bytes. */
  settle(claimed: number, written: number): void;
  /** Bytes went away with a file that was removed. */
  removed(bytes: number): void;
  /** A file that was counted apart is counted here again. */
  added(bytes: number): void;
  /** Bytes of files and of claims. */
  readonly usedBytes: number;
}

/** File systems give room in blocks of this size. */
const BLOCK_BYTES = 4096;
/** Each round removes a file; a claim that finds no room after so many waits for the next one. */
const MAX_ROUNDS = 64;

/** What was asked a moment ago is enough, while more than the floor is free than others fill since: at most a gigabyte in each tenth of a second. */
const AMPLE_BYTES = 1024 * 1024 * 1024;
const AMPLE_MS = 100;
const LONGEST_MS = 1000;

/**
 * @param options.path A folder of the file system.
 * @param options.floorBytes What is to stay free.
 * @param options.freeBytes How the free space is found; for tests.
 * @param options.clock With it the file system is asked one to ten times a second while there is plenty: a call takes as long as 80 frames.
 */
export function createFreeSpace(options: {
  readonly path: string; readonly floorBytes: number; readonly freeBytes?: (path: string) => number; readonly clock?: Pick<Clock, "monotonic">;
}): FreeSpace {
  const { path, floorBytes, freeBytes = freeBytesOf, clock } = options;
  let claimed = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  /** What was free then, less all that was claimed since. */
  let known = 0;
  const ask = () => {
    known = freeBytes(path) - claimed;
    askedAt = clock?.monotonic() ?? askedAt;
    return known;
  };
  return {
    holds(bytes, extraFloorBytes) {
      const needed = roundUp(bytes) + floorBytes + extraFloorBytes;
      const ageMs = clock ? clock.monotonic() - askedAt : Number.POSITIVE_INFINITY;
      if (ageMs < LONGEST_MS && known >= needed + AMPLE_BYTES * Math.ceil((ageMs + 1) / AMPLE_MS)) return true;
      return ask() >= needed;
    },
    claim(bytes) {
      claimed += roundUp(bytes);
      known -= roundUp(bytes);
    },
    settle(bytes) {
      claimed -= roundUp(bytes);
    },
    free: () => freeBytes(path) - claimed - floorBytes,
  };
}

/**
 * @param options.usedBytes What files of this kind take already.
 * @param options.makeRoom Removes a file, and reports it with `removed`. @returns False when there is none that may go.
 */
export function createDiskRoom(options: {
  readonly free: FreeSpace;
  readonly budgetBytes: number;
  readonly usedBytes?: number;
  /** What these files leave free above the floor, for others. */
  readonly extraFloorBytes?: number;
  readonly makeRoom?: (why: RoomRefusal) => Promise<boolean>;
}): DiskRoom {
  const { free, budgetBytes, extraFloorBytes = 0, makeRoom = () => Promise.resolve(false) } = options;
  let used = options.usedBytes ?? 0;
  const refusal = (bytes: number): RoomRefusal | null => {
    if (used + bytes > budgetBytes) return "budget";
    return free.holds(bytes, extraFloorBytes) ? null : "floor";
  };
  return {
    async claim(bytes) {
      let why = refusal(bytes);
      for (let round = 0; why !== null && round < MAX_ROUNDS; round += 1) {
        if (!(await makeRoom(why))) return why;
        why = refusal(bytes);
      }
      if (why !== null) return why;
      used += bytes;
      free.claim(bytes);
      return null;
    },
    settle(claimed, written) {
      free.settle(claimed);
      used -= claimed - written;
    },
    removed(bytes) {
      used = Math.max(0, used - bytes);
    },
    added(bytes) {
      used += bytes;
    },
    get usedBytes() {
      return used;
    },
  };
}

/** What cannot be found counts as none: a folder that is gone, a disk that fails. */
function freeBytesOf(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

const roundUp = (bytes: number) => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
