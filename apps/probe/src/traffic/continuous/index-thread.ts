import { type Log } from "@lanthorn/runtime";
import { startThread } from "../../start-thread.ts";
import type { IndexedFile, IndexedFlow, IndexQuery } from "./index-store.ts";

/** The index of continuous capture, in a thread of its own. Nothing here waits for the disk. */
export interface IndexThread {
  add(file: IndexedFile, flows: readonly IndexedFlow[], isComplete: boolean): void;
  remove(id: string): void;
  /** @returns Ids of files that may have it, oldest first; null where the index cannot be used: any file may. */
  find(query: IndexQuery): Promise<ReadonlySet<string> | null>;
  /** Resolves when what lay in the folder is known. */
  readonly scanned: Promise<void>;
  close(): Promise<void>;
}

/** What the thread begins with. */
export interface IndexThreadData {
  readonly folder: string;
  readonly maxFlows: number;
  /** Files that lie in the folder, oldest first. */
  readonly ids: readonly string[];
}

/** Tasks of the thread. */
export type IndexTask =
  | { readonly kind: "add"; readonly file: IndexedFile; readonly flows: readonly IndexedFlow[]; readonly isComplete: boolean }
  | { readonly kind: "remove"; readonly id: string }
  | { readonly kind: "find"; readonly request: number; readonly query: IndexQuery }
  | { readonly kind: "close" };

/** What it answers. */
export type IndexAnswer =
  | { readonly kind: "file"; readonly id: string; readonly file: IndexedFile | null }
  | { readonly kind: "scanned" }
  | { readonly kind: "found"; readonly request: number; readonly ids: readonly string[] | null }
  | { readonly kind: "problem"; readonly reason: string }
  | { readonly kind: "closed" };

const MAX_HEAP_MB = 64;

/** @param deps.onFile What is known of a file that lay in the folder; null where nothing was in it, and it is gone. */
export function createIndexThread(deps: IndexThreadData & {
  readonly onFile: (id: string, file: IndexedFile | null) => void; readonly log: Pick<Log, "warn">;
}): IndexThread {
  const { folder, maxFlows, ids } = deps;
  const waiting = new Map<number, (ids: ReadonlySet<string> | null) => void>();
  let requests = 0;
  let isOver = false;
  let setScanned = () => {};
  let setClosed = () => {};
  const scanned = new Promise<void>((resolve) => {
    setScanned = resolve;
  });
  const closed = new Promise<void>((resolve) => {
    setClosed = resolve;
  });
  const worker = startThread("continuous-index-worker", import.meta.url, {
    workerData: { folder, maxFlows, ids } satisfies IndexThreadData, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const end = () => {
    isOver = true;
    setScanned();
    setClosed();
    for (const resolve of waiting.values()) resolve(null);
    waiting.clear();
  };
  worker.on("message", (answer: IndexAnswer) => {
    switch (answer.kind) {
      case "file":
        deps.onFile(answer.id, answer.file);
        break;
      case "scanned":
        setScanned();
        break;
      case "found":
        waiting.get(answer.request)?.(answer.ids === null ? null : new Set(answer.ids));
        waiting.delete(answer.request);
        break;
      case "problem":
        deps.log.warn({ reason: answer.reason, folder }, "the index of continuous capture has a problem; exports read more files than they need");
        break;
      case "closed":
        setClosed();
        break;
    }
  });
  worker.on("error", (error) => {
    deps.log.warn({ reason: String(error), folder }, "the index of continuous capture failed; exports read more files than they need");
    end();
  });
  worker.on("exit", end);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  const say = (task: IndexTask) => void (isOver || worker.postMessage(task));
  return {
    scanned,
    add: (file, flows, isComplete) => say({ kind: "add", file, flows, isComplete }),
    remove: (id) => say({ kind: "remove", id }),
    find: (query) => (isOver ? Promise.resolve(null) : new Promise((resolve) => {
      requests += 1;
      waiting.set(requests, resolve);
      say({ kind: "find", request: requests, query });
    })),
    async close() {
      say({ kind: "close" });
      await closed;
      await worker.terminate();
    },
  };
}
