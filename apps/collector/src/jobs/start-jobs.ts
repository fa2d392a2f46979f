import type { Clock } from "@lanthorn/runtime";
import type { AnyJob, Job, JobState } from "./job.ts";
import type { Lease } from "./lease.ts";

/** How a job of this replica is. */
export interface KnownJob extends JobState, Pick<AnyJob, "name" | "where"> {
  /** When it begins next, in milliseconds since the epoch; null where another replica runs it, and where it runs on request. */
  readonly nextRunAt: number | null;
}

/** The jobs of a collector, which repeat until they are closed. */
export interface RunningJobs {
  list(): readonly KnownJob[];
  /** Ends all repetition, and waits for runs that are in progress. */
  close(): Promise<void>;
}

const HOURS_A_DAY = 24;

/**
 * Repeats jobs. Those that run at the start have run once when this resolves; where one of them fails, that is logged.
 * @param deps.lease Whether this replica runs the jobs of one replica; null where there is no other.
 * @throws Error where two jobs have the same name.
 */
export async function startJobs(
  all: readonly AnyJob[], deps: { readonly clock: Pick<Clock, "now" | "every">; readonly lease: Pick<Lease, "isHeld"> | null },
): Promise<RunningJobs> {
  const { clock, lease } = deps;
  const names = all.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two jobs are called ${twice}`);
  const jobs = all.filter((job) => job.where === "loop");
  const isOurs = ({ who }: Job) => who === "each replica" || lease === null || lease.isHeld();
  const isHour = ({ hourUtc }: Job, at: number) => hourUtc === undefined || new Date(at).getUTCHours() === hourUtc;

  await Promise.all(jobs.filter(({ atStart }) => atStart).map((job) => job.runSoon()));
  const tickAt = new Map(jobs.map((job) => [job, clock.now() + job.everyMs]));
  const stops = jobs.map((job) => clock.every(job.everyMs, () => {
    tickAt.set(job, clock.now() + job.everyMs);
    if (isOurs(job) && isHour(job, clock.now())) void job.runSoon();
  }));

  const nextRunAt = (job: Job): number | null => {
    if (!isOurs(job)) return null;
    const first = tickAt.get(job) ?? 0;
    const ticks = Array.from({ length: HOURS_A_DAY }, (_, index) => first + index * job.everyMs);
    return ticks.find((at) => isHour(job, at)) ?? null;
  };
  return {
    list: () => all.map((job) => ({ name: job.name, where: job.where, ...job.state(), nextRunAt: job.where === "loop" ? nextRunAt(job) : null })),
    async close() {
      for (const stop of stops) stop();
      await Promise.all(all.map((job) => job.close()));
    },
  };
}
