import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { classifyStorageFault } from "./storage-faults.ts";

/** Runs work on the database, and knows whether the storage takes it. */
export interface StorageGuard {
  /**
   * Runs work on the database.
   * @returns Null when the storage failed, or the file is known to be corrupt.
   * @throws what is no fault of the storage.
   */
  attempt<T>(work: () => T): { readonly value: T } | null;
  /** False from a fault until `recovered`. */
  readonly isWritable: boolean;
  /** The file is damaged and cannot be used any more. */
  readonly isCorrupt: boolean;
  /** A write has succeeded. */
  recovered(): void;
  close(): void;
}

/** How soon a disk that took nothing is tried again. */
const RETRY_MS = 1000;

/**
 * @param deps.onRetry Called a second after a fault, so that what waits is tried again.
 * @param deps.onCorrupt Called once, when the file turns out to be damaged.
 */
export function createStorageGuard(deps: {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  readonly onRetry: () => void;
  readonly onCorrupt: (error: unknown) => void;
}): StorageGuard {
  let isWritable = true;
  let isCorrupt = false;
  let cancelRetry: (() => void) | undefined;

  function onFault(error: unknown): void {
    const fault = classifyStorageFault(error);
    if (fault === null) throw error;
    if (isWritable) deps.log.error({ reason: describeError(error) }, "events cannot be written; keeping them in memory");
    isWritable = false;
    if (fault === "corrupt") {
      isCorrupt = true;
      deps.onCorrupt(error);
      return;
    }
    cancelRetry ??= deps.clock.after(RETRY_MS, () => {
      cancelRetry = undefined;
      deps.onRetry();
    });
  }

  return {
    attempt(work) {
      if (isCorrupt) return null;
      try {
        return { value: work() };
      } catch (error) {
        onFault(error);
        return null;
      }
    },
    get isWritable() {
      return isWritable;
    },
    get isCorrupt() {
      return isCorrupt;
    },
    recovered() {
      isWritable = true;
    },
    close() {
      cancelRetry?.();
      cancelRetry = undefined;
    },
  };
}
