/** What reads lists: each time in a thread of its own, for which no query waits. */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { startThread } from "@lanthorn/runtime";

/** A thread that is there while something is read. */
export interface ReadingThread<T, R> {
  /** @returns What the thread found. @throws Error where it fails, or ends without an answer. */
  read(task: T): Promise<R>;
  close(): Promise<void>;
}

/** Tables of five million names, twice while they grow, are outside of this. */
const MAX_HEAP_MB = 256;

/** @param program The file of the thread, beside this one, without its extension. */
export function createReadingThread<T, R>(program: string): ReadingThread<T, R> {
  let running: (() => Promise<unknown>) | null = null;
  return {
    read: (workerData) =>
      new Promise((resolve, reject) => {
        const worker = startThread(program, import.meta.url, { workerData, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
        running = () => worker.terminate();
        worker.once("message", resolve);
        worker.once("error", reject);
        worker.once("exit", () => reject(new Error("the thread ended without an answer")));
      }),
    async close() {
      await running?.();
    },
  };
}

/** @returns A key for a set of names that nobody outside can guess. */
export function createHashKey(): readonly [number, number] {
  const key = randomBytes(8);
  return [key.readUInt32LE(0), key.readUInt32LE(4)];
}

/** Where a file is missing. */
export const MISSING = "missing";

/** @returns What is another text when the file is another one or was written to; `MISSING` where there is none. */
export function stampOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return MISSING;
  }
}
