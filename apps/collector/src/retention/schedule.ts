import { type Clock, describeError, type Log } from "@lanthorn/runtime";

/** Work that is done again and again, never twice at once. */
export interface Scheduled {
  /** Does it now, after what is under way. @returns How many rows went. */
  run(): Promise<number>;
  /** Ends the schedule and waits for a run that is under way, which ends early. */
  close(): Promise<void>;
}

/**
 * @param options.what Of what is told in the log, as `old events`.
 * @param options.work To be ended at a good place when `stopped` is aborted.
 */
export function schedule(
  deps: { readonly clock: Clock; readonly log: Log },
  options: { readonly what: string; readonly everyMs: number; readonly work: (stopped: AbortSignal) => Promise<number> },
): Scheduled {
  const stopper = new AbortController();
  let running: Promise<number> = Promise.resolve(0);
  const work = async () => {
    const rows = await options.work(stopper.signal);
    if (rows > 0) deps.log.info({ rows }, `${options.what} forgotten`);
    return rows;
  };
  const run = (): Promise<number> => {
    running = running.catch(() => 0).then(work);
    return running;
  };
  const stop = deps.clock.every(options.everyMs, () => {
    run().catch((error: unknown) => deps.log.error({ reason: describeError(error) }, `${options.what} could not be forgotten, trying again later`));
  });
  return {
    run,
    async close() {
      stopper.abort();
      stop();
      await running.catch(() => 0);
    },
  };
}

/** The database answers without leaving this turn: others get theirs between two chunks. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
