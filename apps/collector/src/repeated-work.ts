import { type Clock, describeError, type Log } from "@lanthorn/runtime";

/** Work that is done again and again, never twice at once. */
export interface RepeatedWork<T> {
  /** Does it now, after what is under way. */
  run(): Promise<T>;
  /** The same, for who does not wait: a failure is told in the log. */
  runSoon(): void;
  /** Ends the repetition and waits for a run that is under way, which ends early. */
  close(): Promise<void>;
}

/**
 * @param options.hourUtc The one hour of the day in which it is repeated, 0 to 23; without it, all.
 * @param options.failure What the log is told when it fails, beside the reason.
 * @param options.work To be ended at a good place when `stopped` is aborted.
 */
export function repeatWork<T>(
  deps: { readonly clock: Clock; readonly log: Log },
  options: {
    readonly everyMs: number; readonly hourUtc?: number; readonly failure: string;
    readonly work: (stopped: AbortSignal) => Promise<T>;
  },
): RepeatedWork<T> {
  const { clock, log } = deps;
  const { hourUtc = null } = options;
  const stopper = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const run = (): Promise<T> => {
    const result = running.catch(() => {}).then(() => options.work(stopper.signal));
    running = result;
    return result;
  };
  const runSoon = () => {
    run().catch((error: unknown) => log.error({ reason: describeError(error) }, options.failure));
  };
  const stop = clock.every(options.everyMs, () => {
    if (hourUtc === null || new Date(clock.now()).getUTCHours() === hourUtc) runSoon();
  });
  return {
    run, runSoon,
    async close() {
      stopper.abort();
      stop();
      await running.catch(() => {});
    },
  };
}
