import type { Worker } from "node:worker_threads";
import { startThread } from "@lanthorn/runtime";

/** Folds the write-ahead log of a SQLite file into it, in a thread of its own: a commit that did it would hold the event loop for some ten milliseconds. */
export interface Checkpoints {
  /** Rows were changed. To be called outside of transactions: the log is folded in now and then. */
  wrote(rows: number): void;
  close(): Promise<void>;
}

/** Each changes a page or two. A checkpoint writes a page once, however often it has changed, and costs the first commit behind it a flush: fewer are cheaper, as long as the log stays below `LOG_PAGES`. */
const ROWS = 2000;
const MAX_HEAP_MB = 16;

/** Starts the thread when it is needed first; it ends by itself when nothing is written. Where it fails, SQLite's own checkpoints do its work later. */
export function createCheckpoints(file: string): Checkpoints {
  let worker: Worker | null = null;
  let isFolding = false;
  let rows = 0;
  const ended = () => {
    worker = null;
    isFolding = false;
  };
  const start = (): Worker => {
    const started = startThread("checkpoint-worker", import.meta.url, { workerData: { file }, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    started.on("message", () => (isFolding = false)).on("error", ended).on("exit", ended);
    started.unref();
    return started;
  };
  return {
    wrote(changed) {
      rows += changed + 1;
      if (rows < ROWS || isFolding) return;
      [rows, isFolding] = [0, true];
      worker ??= start();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      worker.postMessage(null);
    },
    async close() {
      const stopped = worker;
      isFolding = true;
      stopped?.removeAllListeners().on("error", () => {});
      await stopped?.terminate();
    },
  };
}
