import { type Clock, startThread } from "@lanthorn/runtime";

/** Where the event loop writes how often it has turned, for the thread that watches it. */
export interface LoopWatchData {
  readonly turns: Int32Array;
  /** The thread looks so often. */
  readonly lookMs: number;
  /** And kills the process when it has found nothing new so many times. */
  readonly looks: number;
}

const [LOOK_MS, LOOKS] = [200, 4];

/**
 * Ends a process whose event loop has not turned for 0.8 to 1 s, by SIGKILL: nothing else ends it, and whoever started it starts it again. The service
 * manager's watchdog would do that only after some seconds, since each message to it is a process. What stops thread and loop alike (SIGSTOP, a machine
 * that sleeps) is no hang, as looks are counted and not time.
 * @returns Ends the watch.
 */
export function watchLoop({ every }: Pick<Clock, "every">, { lookMs, looks } = { lookMs: LOOK_MS, looks: LOOKS }): () => Promise<void> {
  const turns = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const endTurns = every(lookMs / 2, () => void Atomics.add(turns, 0, 1));
  const thread = startThread("loop-watch-worker", import.meta.url, {
    workerData: { turns, lookMs, looks } satisfies LoopWatchData, resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  });
  thread.unref();
  // Without it the process is as it was before.
  thread.on("error", () => {});
  return async () => {
    endTurns();
    await thread.terminate();
  };
}
