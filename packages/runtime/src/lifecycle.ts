import type { Log } from "./log.ts";
import { describeError } from "./errors.ts";

/** Things that are open and must be closed, last opened first. */
export interface Lifecycle {
  /** Remembers how to close something; closed in reverse order of these calls. */
  onClose(name: string, close: () => void | Promise<void>): void;
  /** Closes everything once, each within `closeTimeoutMs`; a failure is logged and the rest still closed. */
  close(): Promise<void>;
}

/** @param deps.closeTimeoutMs For each part: one that takes longer is logged and left, and the next one is closed. */
export function createLifecycle(deps: { readonly log: Log; readonly closeTimeoutMs: number }): Lifecycle {
  const entries: { readonly name: string; readonly close: () => void | Promise<void> }[] = [];
  let closing: Promise<void> | undefined;
  const closeAll = async () => {
    for (const entry of entries.toReversed()) {
      try {
        await withTimeout(entry.close(), deps.closeTimeoutMs);
      } catch (error) {
        deps.log.error({ part: entry.name, reason: describeError(error) }, "could not be closed in good order");
      }
    }
  };
  return {
    onClose(name, close) {
      entries.push({ name, close });
    },
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

async function withTimeout(work: void | Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not closed after ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves with the first SIGINT or SIGTERM; a second one ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (asked) process.exit(130);
      asked = true;
      resolve(signal);
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
}

/** Keeps a promise in a set for as long as it goes on, so that whoever closes can wait for all. How it ends is for its maker. */
export function keepUntilDone(all: Set<Promise<unknown>>, one: Promise<unknown>): void {
  const done = one.catch(() => {}).finally(() => all.delete(done));
  all.add(done);
}
