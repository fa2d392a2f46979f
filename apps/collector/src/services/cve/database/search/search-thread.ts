import type { Worker } from "node:worker_threads";
import { type Clock, describeError, type Log, startThread } from "@lanthorn/runtime";
import { CollectorError } from "../../../../errors.ts";
import type { CveSearch, CveSearchResult } from "./search-work.ts";

/** A search as it is sent to the thread. */
export interface SearchTask {
  readonly id: number;
  readonly search: CveSearch;
}
/** What the thread sends back. */
export interface SearchAnswer {
  readonly id: number;
  readonly result: CveSearchResult | null;
  readonly error: string | null;
}

/** Searches in a thread of their own, one after the other, so that the event loop waits for none. */
export interface SearchThread {
  /** @throws CollectorError `cve-search-busy` where 64 searches wait, `cve-search-failed` where it took longer than 10 s or failed. */
  search(search: CveSearch): Promise<CveSearchResult>;
  close(): Promise<void>;
}

const MAX_WAITING = 64;
/** The slowest that was measured takes 0.3 s on a quiet machine. */
const MAX_SEARCH_MS = 10_000;
/** It takes some megabytes, for what is searched some times a day. */
const IDLE_MS = 60_000;
const MAX_HEAP_MB = 64;

interface Waiting {
  readonly resolve: (result: CveSearchResult) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the thread at the first search and ends it after a minute without one. A thread that dies fails its searches and is replaced. */
export function createSearchThread(directory: string, { clock, log }: {
  readonly clock: Pick<Clock, "after">; readonly log: Pick<Log, "error">;
}): SearchThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let lastId = 0;
  let cancelTimer = () => {};

  const stop = async () => {
    cancelTimer();
    const stopped = worker;
    worker = null;
    stopped?.removeAllListeners().on("error", () => {});
    await stopped?.terminate();
  };
  const failAll = (error: CollectorError) => {
    const all = [...waiting.values()];
    waiting.clear();
    for (const { reject } of all) reject(error);
  };
  const fail = (reason: string) => {
    log.error({ reason }, "the search in the CVE database failed");
    void stop();
    failAll(new CollectorError("cve-search-failed", `the search failed: ${reason}`));
  };
  const setTimer = () => {
    cancelTimer();
    cancelTimer = waiting.size > 0
      ? clock.after(MAX_SEARCH_MS, () => fail(`no answer within ${MAX_SEARCH_MS / 1000} s`)) : clock.after(IDLE_MS, () => void stop());
  };
  const start = (): Worker => {
    const started = startThread("search-worker", import.meta.url, { workerData: { directory }, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    started.on("message", ({ id, result, error }: SearchAnswer) => {
      const one = waiting.get(id);
      waiting.delete(id);
      setTimer();
      if (result) one?.resolve(result);
      else one?.reject(new CollectorError("cve-search-failed", `the search failed: ${error ?? "no answer"}`));
    });
    started.on("error", (error) => fail(describeError(error)));
    started.on("exit", () => fail("its thread ended"));
    started.unref();
    return started;
  };
  return {
    search: (search) => new Promise((resolve, reject) => {
      if (waiting.size >= MAX_WAITING) throw new CollectorError("cve-search-busy", "other searches are running: try again in some seconds");
      worker ??= start();
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      worker.postMessage({ id: lastId, search } satisfies SearchTask);
      if (waiting.size === 1) setTimer();
    }),
    async close() {
      failAll(new CollectorError("cve-search-failed", "the collector is stopping"));
      await stop();
    },
  };
}
