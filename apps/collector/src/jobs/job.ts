import { type Clock, describeError, keepUntilDone, type Log } from "@lanthorn/runtime";

/** A row of the table of jobs: what the collector does by itself, how often and where. */
export interface JobRow<T = unknown> {
  /** In kebab case; no two jobs have the same. It is the label of the job's metrics. */
  readonly name: string;
  readonly everyMs: number;
  /** The one hour of the day in which it is repeated, 0 to 23; without it, all. */
  readonly hourUtc?: number;
  /** Whether it also runs when the collector starts, on each replica, before the collector serves. */
  readonly atStart?: boolean;
  /** Each replica runs it, or only the one that holds the leader lease. */
  readonly who: "each replica" | "one replica";
  /** What the log says when it fails, beside the reason. */
  readonly failure: string;
  /** To be ended at a good place when `stopped` is aborted. */
  readonly run: (stopped: AbortSignal) => Promise<T>;
}

/** How a job is. Times are milliseconds since the epoch; null where there is none yet. */
export interface JobState {
  readonly lastRunAt: number | null;
  readonly lastFailureAt: number | null;
  /** Failures since it last succeeded. */
  readonly failures: number;
}

/** A job that can be run. It does not repeat by itself: `startJobs` repeats it. */
export interface Job<T = unknown> extends Omit<JobRow<T>, "run" | "failure"> {
  /** In the collector's own process. */
  readonly where: "loop";
  /** Runs it now, after a run that is in progress: it never runs twice at once. */
  run(): Promise<T>;
  /** Runs it now, for a caller that does not wait: a failure is logged. Resolves when it has ended, and never rejects. */
  runSoon(): Promise<void>;
  state(): JobState;
  /** Ends it: waits for a run that is in progress, which ends early. */
  close(): Promise<void>;
}

/** A job that processes of their own do on request. It is for the requester to bound how many run at once. */
export interface ProcessJob<I, T> extends Pick<JobRow, "name" | "who"> {
  readonly where: "process";
  /** Does it for one input. A failure is the requester's to report. */
  run(input: I): Promise<T>;
  state(): JobState;
  /** Ends all of its processes, and waits for them. */
  close(): Promise<void>;
}

/** A row of the table of jobs, whatever it does. */
export type AnyJob = Job | ProcessJob<never, unknown>;

/** Makes a job of its row. */
export function createJob<T>(deps: { readonly clock: Pick<Clock, "now">; readonly log: Log }, row: JobRow<T>): Job<T> {
  const { clock, log } = deps;
  const { run: work, failure, ...facts } = row;
  const stopper = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const { state, track } = createTracker(clock);
  const runOnce = () => track(() => work(stopper.signal));
  const run = (): Promise<T> => {
    const result = running.catch(() => {}).then(runOnce);
    running = result;
    return result;
  };
  return {
    ...facts, where: "loop", run, state,
    async runSoon() {
      if (stopper.signal.aborted) return;
      await run().catch((error: unknown) => log.error({ job: row.name, reason: describeError(error) }, failure));
    },
    async close() {
      stopper.abort();
      await running.catch(() => {});
    },
  };
}

/**
 * Makes a job that processes do.
 * @param row.run Does it in a process: see `inProcess`.
 */
export function createProcessJob<I, T>(
  { clock }: { readonly clock: Pick<Clock, "now"> },
  { name, who, run: work }: Pick<JobRow, "name" | "who"> & { readonly run: (input: I, stopped: AbortSignal) => Promise<T> },
): ProcessJob<I, T> {
  const stopper = new AbortController();
  const running = new Set<Promise<unknown>>();
  const { state, track } = createTracker(clock);
  return {
    name, who, where: "process", state,
    run(input) {
      const result = track(() => work(input, stopper.signal));
      keepUntilDone(running, result);
      return result;
    },
    async close() {
      stopper.abort();
      await Promise.all(running);
    },
  };
}

function createTracker(clock: Pick<Clock, "now">) {
  let state: JobState = { lastRunAt: null, lastFailureAt: null, failures: 0 };
  return {
    state: () => state,
    async track<T>(work: () => Promise<T>): Promise<T> {
      state = { ...state, lastRunAt: clock.now() };
      try {
        const result = await work();
        state = { ...state, failures: 0 };
        return result;
      } catch (error) {
        state = { ...state, lastFailureAt: clock.now(), failures: state.failures + 1 };
        throw error;
      }
    },
  };
}

/**
 * A job that forgets rows.
 * @param options.what What it forgets, as `old events`, for the log.
 * @param options.run Returns how many rows went.
 */
export function createRetentionJob(
  deps: { readonly clock: Pick<Clock, "now">; readonly log: Log },
  { what, run, ...row }: Omit<JobRow<number>, "failure"> & { readonly what: string },
): Job<number> {
  return createJob(deps, {
    ...row, failure: `${what} could not be deleted, trying again later`,
    async run(stopped) {
      const rows = await run(stopped);
      if (rows > 0) deps.log.info({ rows }, `${what} forgotten`);
      return rows;
    },
  });
}
