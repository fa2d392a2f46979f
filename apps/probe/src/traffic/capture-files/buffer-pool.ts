/** Memory that capture files are written from, bounded for the whole process. */
export interface BufferPool {
  /** @returns A buffer of `BUFFER_BYTES`, or null while all are in use. */
  take(): Buffer | null;
  /** Gives a buffer back. */
  give(buffer: Buffer): void;
  /** Buffers in use now. */
  readonly inUse: number;
  /** Whether `take` gives one now. */
  readonly hasFree: boolean;
}

/**
 * One call to the system writes this much, which costs a disk and the thread pool little for each byte. Not more: from 1 MiB on Linux takes larger
 * pages for its cache, which it may have to clear room for first; on a virtual machine that gives free memory back to its host such a write took
 * two to six times as long. It holds the largest frame (262,144 bytes) and its comment.
 */
export const BUFFER_BYTES = 512 * 1024;

/**
 * Memory that was taken is kept: to give it back and take it again costs more than to fill it.
 * @param options.buffers The most that are in use at once.
 * @param options.memory Where they lie, if it matters: frames are copied faster within one stretch of memory.
 */
export function createBufferPool(options: { readonly buffers: number; readonly memory?: Buffer }): BufferPool {
  const memory = options.memory ?? Buffer.alloc(options.buffers * BUFFER_BYTES);
  const idle: Buffer[] = [];
  let made = 0;
  const make = () => {
    made += 1;
    return memory.subarray((made - 1) * BUFFER_BYTES, made * BUFFER_BYTES);
  };
  return countUse(options.buffers, { take: () => idle.pop() ?? make(), give: (buffer) => void idle.push(buffer), hasFree: true });
}

/** A part of a pool for those who must not take all of it from others. @param buffers The most that are taken through it at once. */
export function createBufferShare(pool: BufferPool, buffers: number): BufferPool {
  return countUse(buffers, pool);
}

/** At most so many of what `source` has. */
function countUse(buffers: number, source: Omit<BufferPool, "inUse">): BufferPool {
  let inUse = 0;
  return {
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
    get hasFree() {
      return inUse < buffers && source.hasFree;
    },
  };
}
