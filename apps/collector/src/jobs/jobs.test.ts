import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createJob, createProcessJob, createRetentionJob, type JobRow } from "./job.ts";
import { startJobs } from "./start-jobs.ts";

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 1, 12);

async function start(row: Partial<JobRow> & { readonly fail?: boolean } = {}, lease: { readonly isHeld: () => boolean } | null = null) {
  const clock = createFakeClock(START);
  const doneAt: string[] = [];
  const { fail, ...rest } = row;
  const job = createJob({ clock, log: silentLog }, {
    name: "tidy", everyMs: HOUR_MS, who: "one replica", failure: "it failed", ...rest,
    run: async () => {
      doneAt.push(new Date(clock.now()).toISOString().slice(8, 13));
      if (fail) throw new Error("no luck");
    },
  });
  return { clock, doneAt, job, jobs: await startJobs([job], { clock, lease }) };
}

test("runs each period, though it failed, until it is closed", async () => {
  const { clock, doneAt, jobs } = await start({ fail: true });
  await clock.advance(2 * HOUR_MS);
  await jobs.close();
  await clock.advance(2 * HOUR_MS);
  expect(doneAt).toEqual(["01T13", "01T14"]);
});

test("runs in its hour only, once a day", async () => {
  const { clock, doneAt, jobs } = await start({ hourUtc: 3 });
  expect(jobs.list()).toMatchObject([{ name: "tidy", lastRunAt: null, nextRunAt: START + 15 * HOUR_MS }]);
  await clock.advance(48 * HOUR_MS);
  await jobs.close();
  expect(doneAt).toEqual(["02T03", "03T03"]);
});

test("of one replica runs where the lease is held, with an hour or without one", async () => {
  const state = { held: false };
  const lease = { isHeld: () => state.held };
  const [any, night, each] = [await start({}, lease), await start({ hourUtc: 13 }, lease), await start({ who: "each replica" }, lease)];
  const all = [any, night, each];
  for (const { clock } of all) await clock.advance(24 * HOUR_MS);
  expect(all.map(({ doneAt }) => doneAt.length)).toEqual([0, 0, 24]);
  expect(all.map(({ jobs }) => jobs.list()[0]?.nextRunAt)).toEqual([null, null, START + 25 * HOUR_MS]);
  state.held = true;
  for (const { clock } of all) await clock.advance(24 * HOUR_MS);
  expect(all.map(({ doneAt }) => doneAt.length)).toEqual([24, 1, 48]);
  for (const { jobs } of all) await jobs.close();
});

test("that runs at the start has run when jobs are started, on each replica, and its failure stops nobody", async () => {
  const { doneAt, jobs } = await start({ atStart: true, fail: true }, { isHeld: () => false });
  expect(doneAt).toEqual(["01T12"]);
  expect(jobs.list()).toMatchObject([{ lastRunAt: START, lastFailureAt: START, failures: 1 }]);
  await jobs.close();
});

test("counts failures in a row", async () => {
  const clock = createFakeClock(START);
  let isWell = false;
  const job = createJob({ clock, log: silentLog }, {
    name: "tidy", everyMs: HOUR_MS, who: "one replica", failure: "it failed",
    run: () => (isWell ? Promise.resolve() : Promise.reject(new Error("no luck"))),
  });
  await job.runSoon();
  await job.runSoon();
  expect(job.state()).toEqual({ lastRunAt: START, lastFailureAt: START, failures: 2 });
  isWell = true;
  await clock.advance(HOUR_MS);
  await job.run();
  expect(job.state()).toEqual({ lastRunAt: START + HOUR_MS, lastFailureAt: START, failures: 0 });
});

test("never runs twice at once; closing aborts the run in flight and waits for it, and no run begins after that", async () => {
  const clock = createFakeClock();
  const steps: string[] = [];
  const job = createJob({ clock, log: silentLog }, {
    name: "tidy", everyMs: HOUR_MS, who: "one replica", failure: "it failed",
    run: async (stopped) => {
      steps.push("begins");
      await Promise.resolve();
      steps.push(stopped.aborted ? "is stopped" : "ends");
    },
  });
  const first = job.run();
  void job.runSoon();
  await first;
  await job.close();
  await job.runSoon();
  expect(steps).toEqual(["begins", "ends", "begins", "is stopped"]);
});

test("that forgets says how many rows went", async () => {
  const lines: unknown[] = [];
  const log = { ...silentLog, info: (fields: unknown, text?: string) => void lines.push([fields, text]) };
  const job = createRetentionJob({ clock: createFakeClock(), log }, {
    name: "old", everyMs: HOUR_MS, who: "one replica", what: "old rows", run: () => Promise.resolve(3),
  });
  expect([await job.run(), lines]).toEqual([3, [[{ rows: 3 }, "old rows forgotten"]]]);
});

test("two of one name do not start", async () => {
  const clock = createFakeClock();
  const job = () => createJob({ clock, log: silentLog }, {
    name: "tidy", everyMs: HOUR_MS, who: "one replica", failure: "it failed", run: () => Promise.resolve(),
  });
  await expect(startJobs([job(), job()], { clock, lease: null })).rejects.toThrow(/tidy/);
});

test("of processes runs several at once on request, is listed, and closing ends all of them", async () => {
  const clock = createFakeClock(START);
  const inputs: number[] = [];
  const job = createProcessJob({ clock }, {
    name: "files", who: "each replica",
    run: (input: number, stopped) => new Promise<number>((resolve, reject) => {
      inputs.push(input);
      if (input === 0) resolve(7);
      stopped.addEventListener("abort", () => reject(new Error("stopped")));
    }),
  });
  const jobs = await startJobs([job], { clock, lease: null });
  expect(jobs.list()).toEqual([{ name: "files", where: "process", lastRunAt: null, lastFailureAt: null, failures: 0, nextRunAt: null }]);
  expect(await job.run(0)).toBe(7);
  const others = [job.run(1), job.run(2)].map((run) => run.catch((error: unknown) => String(error)));
  expect(inputs).toEqual([0, 1, 2]);
  await jobs.close();
  expect(await Promise.all(others)).toEqual(["Error: stopped", "Error: stopped"]);
  expect(jobs.list()).toMatchObject([{ lastRunAt: START, failures: 2 }]);
});
