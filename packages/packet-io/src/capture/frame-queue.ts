import type { CapturedFrame } from "./capture-types.ts";

/** Enough to spread the cost of a call thin; few enough that the costliest frames hold up the event loop for some milliseconds only. */
export const BATCH_FRAMES = 32;

/** A tenth of a second of a 100 k frames/s burst. */
const QUEUE_FRAMES = 8192;
const QUEUE_BYTES = 8 * 1024 * 1024;

/** Small, so that one frame kept for long keeps little else alive. */
const SLAB_BYTES = 8192;

/** Frames on their way to a slow reader, at most 8192 of them and 8 MiB; what comes when it is full is counted and dropped. */
export interface FrameQueue {
  /**
   * Copies a frame to the end of the queue.
   * @param source Holds the frame at its start; may be overwritten afterwards.
   * @returns False when the queue was full and the frame was dropped.
   */
  push(atMicroseconds: number, source: Buffer, length: number, wireLength: number): boolean;
  /** Takes the oldest frames out, at most BATCH_FRAMES; empty when there are none. */
  take(): readonly CapturedFrame[];
  clear(): void;
  readonly length: number;
}

/** An empty queue. Frames are copied into shared blocks of 8 KiB: a frame that is kept keeps its block in memory. */
export function createFrameQueue(): FrameQueue {
  let batches: CapturedFrame[][] = [];
  let frames = 0;
  let bytes = 0;
  let slab = Buffer.alloc(0);
  let used = 0;
  const copy = (source: Buffer, length: number): Uint8Array => {
    if (length > SLAB_BYTES / 4) return new Uint8Array(source.subarray(0, length));
    if (used + length > slab.length) {
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      used = 0;
    }
    source.copy(slab, used, 0, length);
    const view = new Uint8Array(slab.buffer, used, length);
    used += length;
    return view;
  };
  return {
    push(atMicroseconds, source, length, wireLength) {
      if (frames >= QUEUE_FRAMES || bytes + length > QUEUE_BYTES) return false;
      let batch = batches.at(-1);
      if (batch === undefined || batch.length === BATCH_FRAMES) {
        batch = [];
        batches.push(batch);
      }
      batch.push({ atMicroseconds, bytes: copy(source, length), wireLength });
      frames += 1;
      bytes += length;
      return true;
    },
    take() {
      const batch = batches.shift() ?? [];
      frames -= batch.length;
      for (const frame of batch) bytes -= frame.bytes.length;
      return batch;
    },
    clear() {
      batches = [];
      frames = 0;
      bytes = 0;
    },
    get length() {
      return frames;
    },
  };
}
