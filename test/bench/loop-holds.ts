import { closeSync, openSync, readSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";

/** How long the event loop was held. */
export interface LoopHolds {
  /** The longest, in milliseconds. */
  readonly longestMs: number;
  /** The longest without what its thread waited for a processor, while others had all of them. */
  readonly longestNetMs: number;
  /** Holds of more than 20 ms, and those that are so long without the waiting. */
  readonly long: number;
  readonly longNet: number;
  /** The longest collection of garbage, in milliseconds, and all of them together. */
  readonly longestCollectionMs: number;
  readonly collectionMs: number;
}

const EVERY_MS = 1;
const LONG_MS = 20;

/**
 * For how many milliseconds the main thread of this process has waited for a processor.
 * @see https://docs.kernel.org/scheduler/sched-stats.html nanoseconds on a processor, and of waiting for one
 */
export function openWaitingTime(): { readonly waited: () => number; readonly close: () => void } {
  const file = openSync("/proc/self/schedstat", "r");
  const bytes = Buffer.alloc(128);
  return {
    waited: () => Number(bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, 0)).split(" ")[1]) / 1e6,
    close: () => closeSync(file),
  };
}

/**
 * Looks each millisecond how late it is. For the main thread of a process.
 * @returns What ends it, and gives what was seen.
 */
export function watchHolds(): () => LoopHolds {
  const { waited, close } = openWaitingTime();
  const collections: number[] = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries().map(({ duration }) => duration)));
  observer.observe({ entryTypes: ["gc"] });
  const holds: { readonly ms: number; readonly netMs: number }[] = [];
  let [at, waitedMs] = [performance.now(), waited()];
  const look = () => {
    const [now, nowWaited] = [performance.now(), waited()];
    const ms = now - at - EVERY_MS;
    if (ms > EVERY_MS) holds.push({ ms, netMs: Math.max(0, ms - (nowWaited - waitedMs)) });
    [at, waitedMs] = [now, nowWaited];
  };
  const timer = setInterval(look, EVERY_MS);
  return () => {
    look();
    clearInterval(timer);
    observer.disconnect();
    close();
    return {
      longestMs: Math.max(0, ...holds.map(({ ms }) => ms)), longestNetMs: Math.max(0, ...holds.map(({ netMs }) => netMs)),
      long: holds.filter(({ ms }) => ms > LONG_MS).length, longNet: holds.filter(({ netMs }) => netMs > LONG_MS).length,
      longestCollectionMs: Math.max(0, ...collections), collectionMs: collections.reduce((sum, ms) => sum + ms, 0),
    };
  };
}
