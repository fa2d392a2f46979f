import type { KnownJob, RunningJobs } from "../jobs/start-jobs.ts";
import type { LabelledReading } from "./metrics.ts";

/** When each job ran, failed and runs next, in seconds since the epoch; a job without such a time is left out. */
export function jobReadings(jobs: Pick<RunningJobs, "list">): readonly LabelledReading[] {
  const reading = (name: string, help: string, timeOf: (job: KnownJob) => number | null): LabelledReading => ({
    name, help, label: "job",
    read: () => Promise.resolve(Object.fromEntries(jobs.list().flatMap((job) => {
      const at = timeOf(job);
      return at === null ? [] : [[job.name, at / 1000]];
    }))),
  });
  return [
    reading("lanthorn_job_last_run_timestamp_seconds", "When each job last began", ({ lastRunAt }) => lastRunAt),
    reading("lanthorn_job_last_failure_timestamp_seconds", "When each job last failed", ({ lastFailureAt }) => lastFailureAt),
    reading("lanthorn_job_next_run_timestamp_seconds", "When each job begins next, where it is this replica's", ({ nextRunAt }) => nextRunAt),
  ];
}
