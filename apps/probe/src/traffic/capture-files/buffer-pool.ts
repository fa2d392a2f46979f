import type { FileHandle } from "node:fs/promises";
import { PAGE_OCTETS, type PieceWriter } from "@lanthorn/packet-io";
import { MIN_PADDING_OCTETS } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";

/** A file that is written. */
export interface WrittenFile {
  readonly handle: FileHandle;
  /** The same, open for direct I/O; null where that is not wanted, or not to be had. */
  readonly direct: FileHandle | null;
}

/** How files are written. */
export interface FileWriter {
  /** Writes to a file at a position. @returns How much of the front is written; at least one octet. @throws What the disk says. */
  write(file: WrittenFile, bytes: Uint8Array, position: number): Promise<number>;
  /** Writes blocks behind each other past the kernel's cache. @returns Whether they are in the file, all of them; else they are to be written with `write`. */
  writePast(file: WrittenFile, blocks: readonly Uint8Array[], position: number): Promise<boolean>;
  /** For how long the disk has not taken what goes past the cache, in milliseconds: 0 while nothing waits. */
  stalledMs(): number;
}

/** Memory that capture files are written from, bounded for the whole process, and the way it is written. */
export interface BufferPool {
  /** @returns A buffer of `BUFFER_BYTES`, or null while all are in use. */
  take(): Buffer | null;
  /** Gives a buffer back. */
  give(buffer: Buffer): void;
  /** Buffers in use now. */
  readonly inUse: number;
  /** How many `take` gives now. */
  readonly free: number;
  /** Writes what is in buffers. */
  readonly writer: FileWriter;
}

/**
 * One call to the system writes this much, which costs the thread pool little for each byte. It holds the largest frame (262,144 bytes) and its comment.
 */
export const BUFFER_BYTES = 512 * 1024;
/** The most that padding up to a page of the file takes. */
export const MAX_PADDING_BYTES = PAGE_OCTETS + MIN_PADDING_OCTETS;
/** As much of a buffer as there is with padding behind it. */
export const ROOM_BYTES = BUFFER_BYTES - MAX_PADDING_BYTES;

/**
 * Memory that was taken is kept: to give it back and take it again costs more than to fill it.
 * @param options.buffers The most that are in use at once.
 * @param options.memory Where they lie, if it matters: frames are copied faster within one stretch of memory. Its end is taken first.
 * @param options.writer Node's own way unless given.
 */
export function createBufferPool(options: { readonly buffers: number; readonly memory?: Buffer; readonly writer?: FileWriter }): BufferPool {
  const memory = options.memory ?? Buffer.alloc(options.buffers * BUFFER_BYTES);
  const idle: Buffer[] = [];
  let made = 0;
  const make = () => {
    made += 1;
    return memory.subarray(memory.length - made * BUFFER_BYTES, memory.length - (made - 1) * BUFFER_BYTES);
  };
  return countUse(options.buffers, { take: () => idle.pop() ?? make(), give: (buffer) => void idle.push(buffer), free: options.buffers }, options.writer ?? createFileWriter(null));
}

/**
 * A part of a pool for those who must not take all of it from others.
 * @param buffers The most that are taken through it at once.
 * @param writer The pool's way unless given.
 */
export function createBufferShare(pool: BufferPool, buffers: number, writer = pool.writer): BufferPool {
  return countUse(buffers, pool, writer);
}

/** At most so many of what `source` has. */
function countUse(buffers: number, source: Pick<BufferPool, "take" | "give" | "free">, writer: FileWriter): BufferPool {
  let inUse = 0;
  return {
    writer,
    take() {
      const buffer = inUse < buffers ? source.take() : null;
      if (buffer) inUse += 1;
      return buffer;
    },
    give(buffer) {
      inUse -= 1;
      source.give(buffer);
    },
    get inUse() {
      return inUse;
    },
    get free() {
      return Math.min(buffers - inUse, source.free);
    },
  };
}

/** Shorter ones are one piece or two, for which Node's own way is as good. */
const MIN_IN_PIECES = 256 * 1024;
/** So much is written before the kernel's cache is asked to let go of it. */
const RELEASE_BYTES = 8 * 1024 * 1024;
/** It has to be on the disk for that: some seconds of traffic, asked for several times. */
const RELEASED_BYTES = 64 * 1024 * 1024;

/** When to go past the cache. */
interface DiskDeps {
  /** Whether all buffers are in use: the disk is slower than what comes, or this process is late. */
  readonly isFull: () => boolean;
  readonly clock: Pick<Clock, "monotonic">;
}

/** @param pieces Null where the system does not write in pieces. @param disk Left out, everything goes through the cache. */
export function createFileWriter(pieces: PieceWriter | null, disk: DiskDeps | null = null): FileWriter {
  const past = disk && createPastWrites(disk);
  /** What was to go past the cache may be in it after all: not every file system says so when it refuses. */
  const release = ({ handle }: WrittenFile, position: number, end: number): void => {
    if (Math.floor(end / RELEASE_BYTES) > Math.floor(position / RELEASE_BYTES)) pieces?.release(handle.fd, Math.max(0, end - RELEASED_BYTES), Math.min(end, RELEASED_BYTES));
  };
  return {
    async write(file, bytes, position) {
      const front = pieces && bytes.length >= MIN_IN_PIECES ? await pieces.write(file.handle.fd, bytes, position) : 0;
      const written = front > 0 ? front : (await file.handle.write(bytes, 0, bytes.length, position)).bytesWritten;
      release(file, position, position + written);
      return written;
    },
    async writePast(file, blocks, position) {
      const { direct } = file;
      if (pieces === null || past === null || direct === null || past.isSlow()) return false;
      const octets = blocks.reduce((sum, { length }) => sum + length, 0);
      const written = await past.time(() => pieces.writePast(direct.fd, blocks, position));
      if (written < octets) return false;
      release(file, position, position + octets);
      past.written(direct, octets);
      return true;
    },
    stalledMs: () => past?.stalledMs() ?? 0,
  };
}

/**
 * So much goes past the kernel's cache before the disk is made to keep it. A disk with a cache of its own takes a gigabyte a second into that; who then waits until
 * something is kept, as each database does at each of its writes, waits for all of it, and what is written meanwhile stands still for as long: half a second, measured.
 */
const KEPT_BYTES = 16 * 1024 * 1024;
/** In this time it is kept, where the disk is well. */
const KEPT_WITHIN_MS = 40;
/** A disk that takes longer than this for some buffers is slower than what comes, while all are in use. */
const SLOW_MS = 50;

/** What goes past the cache, by the time that the disk takes for it. */
function createPastWrites({ isFull, clock }: DiskDeps) {
  /** Those that are on their way, oldest first; one that is not alone waits until the disk keeps what came before. */
  const begun = new Set<{ readonly at: number; isAlone: boolean }>();
  /** The last one that was alone. */
  let tookMs = 0;
  let unkept = 0;
  let keptSince: number | null = null;
  const stalledMs = () => {
    const [oldest] = begun;
    return oldest ? clock.monotonic() - oldest.at : 0;
  };
  const isKeeping = () => keptSince !== null && clock.monotonic() - keptSince < KEPT_WITHIN_MS;
  const kept = () => {
    keptSince = null;
  };
  return {
    stalledMs,
    /** Whether the kernel's cache is to take what comes, for as long as it has memory. */
    isSlow: () => isFull() && !isKeeping() && Math.max(tookMs, stalledMs()) >= SLOW_MS,
    async time(write: () => Promise<number>): Promise<number> {
      const one = { at: clock.monotonic(), isAlone: keptSince === null };
      begun.add(one);
      const written = await write();
      begun.delete(one);
      if (one.isAlone) tookMs = clock.monotonic() - one.at;
      return written;
    },
    /** Nobody waits until it is kept, and nothing is asked of a disk that has more to do already. What it loses, it says to the writes that follow. */
    written(file: FileHandle, octets: number): void {
      unkept += octets;
      if (unkept < KEPT_BYTES || keptSince !== null || isFull()) return;
      [unkept, keptSince] = [0, clock.monotonic()];
      for (const one of begun) one.isAlone = false;
      file.datasync().then(kept, kept);
    },
  };
}
