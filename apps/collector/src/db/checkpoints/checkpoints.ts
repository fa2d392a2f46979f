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
  /** Resolves when all of a log that is not short was folded in, if nothing was written meanwhile; at once while it is short. Never rejects. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

/** Each changes a page to four. A checkpoint writes a page once, however often it has changed, and costs the first commit behind it a flush: fewer are cheaper. */
const ROWS = 2000;
/** From then on the log is folded in often, so that it begins anew as soon as the writer rests: nobody waits for that. */
export const SHORT_LOG_BYTES = 8 * 1024 * 1024;
/** From then on the next transaction waits until the log can begin anew, for some ten milliseconds. */
const LONG_LOG_BYTES = 28 * 1024 * 1024;
/** A log longer than short is folded in each so many changes. While somebody reads in a long one, it cannot begin anew: then that is tried as often. */
const FEW_ROWS = 500;
const MAX_HEAP_MB = 16;

/**
 * Starts the thread when it is needed first; it ends by itself when nothing is written. Where it fails, SQLite's own checkpoints do its work later.
 * @param file Its connection's `journal_size_limit` is `shortBytes`, so that the log's file is longer only while the log is.
 * @param limits.rows So many changes are folded in together.
 */
export function createCheckpoints(file: string, limits = { rows: ROWS, shortBytes: SHORT_LOG_BYTES, longBytes: LONG_LOG_BYTES }): Checkpoints {
  let worker: Worker | null = null;
  let [rows, untried, isClosed] = [0, FEW_ROWS, false];
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
  const isLonger = (bytes: number) => (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > bytes;
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
      if (waiting !== null || isClosed) return;
      if (rows >= limits.rows || (rows >= FEW_ROWS && isLonger(limits.shortBytes))) fold();
    },
    async ready() {
      if (isClosed || untried < FEW_ROWS || !isLonger(limits.longBytes)) return;
      untried = 0;
      // What is in progress began before the last commit.
      if (waiting !== null) await folded();
      if (!isClosed) await folded();
    },
    async rest() {
      if (isClosed || !isLonger(limits.shortBytes)) return;
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
