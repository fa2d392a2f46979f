import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createDeliveryReaction } from "./deliveries/reaction.ts";
import { jobsHealth } from "./gateway/health.ts";
import { createJob, createProcessJob } from "./jobs/job.ts";
import { startJobs } from "./jobs/start-jobs.ts";
import { jobReadings } from "./metrics/job-readings.ts";
import { jobsOf, reactionsOf, routesOf, type ServiceModule } from "./service-module.ts";
import { createAlertReaction } from "./services/alerts/reaction/reaction.ts";
import { createAnomaliesReaction } from "./services/anomalies/reaction.ts";
import { createQueriesReaction } from "./services/dns/queries/reaction.ts";
import { createHoneypotReaction } from "./services/honeypots/sessions/reaction.ts";
import { createIdsReaction } from "./services/ids/noise/reaction.ts";
import type { NoiseStore } from "./services/ids/noise/store.ts";
import { createPcapReaction } from "./services/pcap/reaction.ts";
import { scanReaction } from "./services/scans/reaction.ts";
import { neighborReaction } from "./services/topology/neighbor-reaction.ts";
import { switchReaction } from "./services/topology/switch-reaction.ts";

const START = Date.UTC(2026, 0, 1);
const clock = createFakeClock(START);
const failing = (name: string) => createJob({ clock, log: silentLog }, {
  name, everyMs: 60_000, who: "one replica", failure: "it failed", run: () => Promise.reject(new Error("no luck")),
});
const base = { mount: "gateway", routes: [] } as const;
const alerts: ServiceModule = { ...base, name: "alerts", reactions: { alerts: createAlertReaction({ maxOpen: 1 }) } };
const topology: ServiceModule = { ...base, name: "topology", reactions: { neighbors: neighborReaction, switches: switchReaction } };
const scans: ServiceModule = { ...base, name: "scans", reactions: { scans: scanReaction } };
const pcap: ServiceModule = {
  ...base, name: "pcap", reactions: { pcaps: createPcapReaction({ quota: { dayRecords: 1, records: 1 }, nudge: () => undefined }) },
};
const ids: ServiceModule = { ...base, name: "ids", reactions: { intrusions: createIdsReaction({ store: {} as NoiseStore, clock }) } };
const anomalies: ServiceModule = { ...base, name: "anomalies", reactions: { anomalies: createAnomaliesReaction({ store: { feedback: () => Promise.resolve([]) }, clock }) } };
const honeypots: ServiceModule = { ...base, name: "honeypots", reactions: { honeypots: createHoneypotReaction({ seal: (password) => password, open: () => null }) } };
const dns: ServiceModule = { ...base, name: "dns", reactions: { queries: createQueriesReaction({ keepDays: 1 }) } };
const diplomat: ServiceModule = { ...base, name: "diplomat", mount: "diplomat", reactions: { deliveries: createDeliveryReaction() } };

test("the reactions of all services are those that the table names, each given by one", () => {
  const others = [alerts, topology, scans, pcap, ids, anomalies, honeypots, dns];
  expect(reactionsOf([...others, diplomat])).toMatchObject({ scans: scanReaction, neighbors: neighborReaction });
  expect(() => reactionsOf(others)).toThrow(/deliveries/);
  expect(() => reactionsOf([...others, diplomat, { ...scans, name: "other" }])).toThrow(/scans and other/);
});

test("routes are gathered by the service of the specification, and jobs with retention", () => {
  expect(Object.keys(routesOf([alerts, diplomat, scans]))).toEqual(["gateway", "diplomat"]);
  const [job, retention] = [failing("one"), failing("two")];
  expect(jobsOf([{ ...alerts, jobs: [job] }, { ...scans, retention: [retention] }])).toEqual([job, retention]);
});

test("a job that fails three times in a row degrades health, one of requests does not, and metrics have the times of both", async () => {
  const repeated = failing("tidy");
  const requested = createProcessJob({ clock }, { name: "files", who: "each replica", run: () => Promise.reject(new Error("no luck")) });
  const jobs = await startJobs([repeated, requested], { clock, lease: null });
  const fail = async () => {
    await repeated.runSoon();
    await requested.run(undefined).catch(() => {});
  };
  for (let count = 0; count < 2; count += 1) await fail();
  expect(await jobsHealth(jobs)()).toMatchObject({ status: "ok" });
  await fail();
  expect(await jobsHealth(jobs)()).toEqual({ status: "degraded", detail: expect.stringMatching(/: tidy;/) as string });
  const values = await Promise.all(jobReadings(jobs).map(async ({ name, read }) => [name, await read()]));
  expect(Object.fromEntries(values)).toEqual({
    lanthorn_job_last_run_timestamp_seconds: { tidy: START / 1000, files: START / 1000 },
    lanthorn_job_last_failure_timestamp_seconds: { tidy: START / 1000, files: START / 1000 },
    lanthorn_job_next_run_timestamp_seconds: { tidy: START / 1000 + 60 },
  });
  await jobs.close();
});
