import { statSync } from "node:fs";
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

/** Each changes a page to four. A checkpoint writes a page once, however often it has changed, and costs the first commit behind it a flush: fewer are cheaper. */
const ROWS = 2000;
/** From then on the log is to begin anew. Where the writer rests now and then, it does so long before. */
export const LONG_LOG_BYTES = 24 * 1024 * 1024;
/** While somebody reads what is in a long log, it cannot begin anew: then that is tried only so often. */
const ROWS_BETWEEN_TRIES = 500;
const MAX_HEAP_MB = 16;

/**
 * Starts the thread when it is needed first; it ends by itself when nothing is written. Where it fails, SQLite's own checkpoints do its work later.
 * @param file Its connection's `journal_size_limit` is `longBytes`, so that the log's file is longer only while the log is.
 * @param limits.rows So many changes are folded in together. @param limits.longBytes A longer log begins anew with the next transaction.
 */
export function createCheckpoints(file: string, limits = { rows: ROWS, longBytes: LONG_LOG_BYTES }): Checkpoints {
  let worker: Worker | null = null;
  let [rows, untried, isClosed] = [0, ROWS_BETWEEN_TRIES, false];
  /** Called when the fold that is in progress has ended; null while there is none. */
  let waiting: (() => void)[] | null = null;
  const finish = () => {
    const done = waiting ?? [];
    worker?.unref();
    waiting = null;
    for (const resolve of done) resolve();
  };
  const ended = () => {
    worker = null;
    finish();
  };
  const start = (): Worker => {
    const started = startThread("checkpoint-worker", import.meta.url, { workerData: { file }, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    started.on("message", finish).on("error", ended).on("exit", ended);
    started.unref();
    return started;
  };
  const fold = () => {
    [rows, waiting] = [0, []];
    worker ??= start();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    worker.postMessage(null);
  };
  const isLong = () => (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > limits.longBytes;
  const folded = () => new Promise<void>((resolve) => {
    if (waiting === null) fold();
    waiting?.push(resolve);
    // A process in which nothing else is open ends otherwise while a transaction waits.
    worker?.ref();
  });
  return {
    wrote(changed) {
      rows += changed + 1;
      untried += changed + 1;
      if (rows >= limits.rows && waiting === null && !isClosed) fold();
    },
    async ready() {
      if (isClosed || untried < ROWS_BETWEEN_TRIES || !isLong()) return;
      untried = 0;
      // What is in progress began before the last commit.
      if (waiting !== null) await folded();
      if (!isClosed) await folded();
    },
    async close() {
      const stopped = worker;
      isClosed = true;
      stopped?.removeAllListeners().on("error", () => {});
      await stopped?.terminate();
      finish();
    },
  };
}
