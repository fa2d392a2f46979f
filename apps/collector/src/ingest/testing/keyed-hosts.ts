import type { ProbeEvent } from "@lanthorn/contract";
import { createId, silentLog, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect } from "vitest";
import type { ProbeAddress } from "../../broker/broker.ts";
import { createRecomparison, type Recomparison } from "../../identity/recomparison.ts";
import { type RunningJobs, startJobs } from "../../jobs/start-jobs.ts";
import { createIngestBench, hostState, type IngestBench } from "./bench.ts";

/** One probe's words of hosts with identity keys, and what became of them. */

export let bench: IngestBench;
export let recomparison: Recomparison;
export let probe: ProbeAddress;
let jobs: RunningJobs;
let queueId = "";
let after = 0;
/** Makes them anew for each test of the file that calls this. */
export function makeForEachTest(): void {
  beforeEach(async () => {
    bench = await createIngestBench();
    probe = await bench.addProbe();
    const { db, reads } = bench.database;
    recomparison = createRecomparison({ db, reads, merges: bench.merges, clock: bench.clock, log: silentLog });
    jobs = await startJobs([recomparison], { clock: bench.clock, lease: null });
    queueId = createId();
    after = 0;
  });
  afterEach(async () => {
    await jobs.close();
    await bench.close();
  });
}

const T0 = Date.UTC(2026, 10, 20, 11);
export const at = (seconds: number) => toInstant(T0 + seconds * 1000);
export const send = async (...events: ProbeEvent[]) => {
  const ack = await bench.sendBatch(probe, queueId, after, events);
  after += events.length;
  expect(ack).toMatchObject({ watermark: after, refused: null });
};
export type Host = Parameters<typeof hostState>[0] & { readonly keys?: Readonly<Record<string, string>> };
const state = ({ keys = {}, ...host }: Host, seconds: number) => {
  const base = hostState(host, at(seconds));
  return { ...base, evidence: [...base.evidence, ...Object.entries(keys)
    .map(([field, value]) => ({ field, value, source: "dhcp", confidence: 0.9, seen_at: at(seconds) }))] };
};
export const found = (host: Host, seconds = 0): ProbeEvent =>
  ({ type: "host_found", occurred_at: at(seconds), data: state(host, seconds) });
export const learned = (host: Host, seconds: number): ProbeEvent =>
  ({ type: "host_changed", occurred_at: at(seconds), data: { ...state(host, seconds), changed: ["evidence"] } });
export const offline = ({ ip, mac }: Host, seconds: number, last = 0): ProbeEvent =>
  ({ type: "host_offline", occurred_at: at(seconds), data: { ip, mac, last_seen_at: at(last), missed_checks: 3 } });
export const online = ({ ip, mac }: Host, seconds: number): ProbeEvent =>
  ({ type: "host_online", occurred_at: at(seconds), data: { ip, mac, last_seen_at: at(seconds) } });

export const devices = () => bench.database.db.selectFrom("devices").selectAll().orderBy("first_seen").orderBy("id").execute();
export const macs = async () => {
  const rows = await bench.database.db.selectFrom("interfaces").select(["mac", "device_id"]).orderBy("mac").execute();
  return (await devices()).map(({ id }) => rows.filter((row) => row.device_id === id).map(({ mac }) => mac));
};
export const logged = () => bench.database.db.selectFrom("events").select(["type", "device_id"]).orderBy("seq").execute();
export const merges = () => bench.database.db.selectFrom("device_merges").selectAll().orderBy("at").orderBy("id").execute();

export const DUID = "000100012abbccdd0011";
export const wired: Host = { ip: "192.0.2.10", mac: "00:1b:21:00:00:01", hostname: "laptop", keys: { dhcp_duid: DUID } };
export const wireless: Host = { ip: "192.0.2.20", mac: "00:1b:21:00:00:02", hostname: "laptop", keys: { dhcp_duid: DUID } };
