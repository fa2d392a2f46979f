/** How much is done at once, so that ingest and people wait for some milliseconds only, whatever the machine and its disk. */
export interface BatchSize {
  now(): number;
  /** What a batch of the size that was said took. */
  took(ms: number): void;
}

/** Beyond it, what is larger is not faster. */
const LARGEST = 64;
/** Below it, the commit of each batch takes longer than what is in it. */
const SMALLEST = 4;
const LONG_MS = 8;
const SHORT_MS = 4;

/** Begins small: the first batches are the slowest. */
export function createBatchSize(): BatchSize {
  let size = SMALLEST;
  return {
    now: () => size,
    took(ms) {
      if (ms > LONG_MS) size = Math.max(SMALLEST, size >> 1);
      else if (ms < SHORT_MS) size = Math.min(LARGEST, size + SMALLEST);
    },
  };
}
