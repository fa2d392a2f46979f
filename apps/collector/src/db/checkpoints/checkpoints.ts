import type { Worker } from "node:worker_threads";
import { startThread } from "@lanthorn/runtime";

/** Folds the write-ahead log of a SQLite file into it, in a thread of its own: a commit that did it would hold the event loop for some ten milliseconds. */
export interface Checkpoints {
  /** Rows were changed. To be called outside of transactions: the log is folded in now and then. */
  wrote(rows: number): void;
  /**
   * Resolves when the next transaction may begin: at once, and after some milliseconds where the log is long. It begins anew only with a transaction before which all of it
   * was folded in, for which a steady writer leaves no time. Never rejects.
   */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** What the thread has done: so many pages of 4 KiB are in the log, folded in or not. */
export interface Folded {
  readonly logPages: number;
}

/** Each changes a page to four. A checkpoint writes a page once, however often it has changed, and costs the first commit behind it a flush: fewer are cheaper. */
const ROWS = 2000;
/** 96 MB: from then on the log is to begin anew. Where the writer rests now and then, it does so long before. */
const LONG_PAGES = 24_000;
const MAX_HEAP_MB = 16;

/**
 * Starts the thread when it is needed first; it ends by itself when nothing is written. Where it fails, SQLite's own checkpoints do its work later.
 * @param limits.rows So many changes are folded in together. @param limits.longPages A log of so many pages is long.
 */
export function createCheckpoints(file: string, limits = { rows: ROWS, longPages: LONG_PAGES }): Checkpoints {
  let worker: Worker | null = null;
  let [rows, isLong, isClosed] = [0, false, false];
  /** Called when the fold that is in progress has ended; null while there is none. */
  let waiting: (() => void)[] | null = null;
  const finish = (logPages: number) => {
    isLong = logPages >= limits.longPages;
    const done = waiting ?? [];
    waiting = null;
    for (const resolve of done) resolve();
  };
  const ended = () => {
    worker = null;
    finish(0);
  };
  const start = (): Worker => {
    const started = startThread("checkpoint-worker", import.meta.url, { workerData: { file }, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    started.on("message", ({ logPages }: Folded) => finish(logPages)).on("error", ended).on("exit", ended);
    started.unref();
    return started;
  };
  const fold = () => {
    [rows, waiting] = [0, []];
    worker ??= start();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    worker.postMessage(null);
  };
  const folded = () => new Promise<void>((resolve) => {
    if (waiting === null) fold();
    waiting?.push(resolve);
  });
  return {
    wrote(changed) {
      rows += changed + 1;
      if (rows >= limits.rows && waiting === null && !isClosed) fold();
    },
    async ready() {
      if (!isLong || isClosed) return;
      // What is in progress began before the last commit.
      if (waiting !== null) await folded();
      if (!isClosed) await folded();
      isLong = false;
    },
    async close() {
      const stopped = worker;
      isClosed = true;
      stopped?.removeAllListeners().on("error", () => {});
      await stopped?.terminate();
      finish(0);
    },
  };
}
