import type { Clock } from "@lanthorn/runtime";

/** How fast files go over the wire, up and down together, and that events go first. */
export interface Pace {
  /** Waits until so many bytes may go. @throws Error once `signal` is aborted. */
  proceed(bytes: number, signal: AbortSignal): Promise<void>;
  /** Waits for milliseconds. @throws Error once `signal` is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** How often a transfer that waits for the events looks whether they have gone. */
const BACKLOG_EVERY_MS = 2000;

/**
 * @param deps.hasBacklog Whether events wait for longer than they need; nothing goes while they do.
 * @param deps.bytesPerSecond How fast files may go.
 */
export function createPace(deps: {
  readonly hasBacklog: () => boolean; readonly bytesPerSecond: number; readonly clock: Pick<Clock, "after" | "monotonic">;
}): Pace {
  const { clock } = deps;
  /** Monotonic: when the next piece may go. */
  let nextAt = 0;
  const wait = (ms: number, signal: AbortSignal) => new Promise<void>((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(new Error("stopped"));
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return {
    wait,
    async proceed(bytes, signal) {
      while (deps.hasBacklog()) await wait(BACKLOG_EVERY_MS, signal);
      const ms = nextAt - clock.monotonic();
      nextAt = Math.max(nextAt, clock.monotonic()) + (bytes / deps.bytesPerSecond) * 1000;
      if (ms > 0) await wait(ms, signal);
    },
  };
}
