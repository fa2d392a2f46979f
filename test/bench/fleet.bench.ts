import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createId, systemClock, toInstant } from "@lanthorn/runtime";
import { issueProbe } from "../../apps/collector/src/broker/testing/bench.ts";
import { type Authority, openAuthority } from "../../apps/collector/src/certificates/authority.ts";
import type { DatabaseLocation } from "../../apps/collector/src/db/location.ts";
import { type Database, openDatabase } from "../../apps/collector/src/db/open.ts";
import { secretsInDatabase } from "../../apps/collector/src/sealing/kept-secrets.ts";
import { openKeyring } from "../../apps/collector/src/sealing/keyring.ts";
import { createSealing } from "../../apps/collector/src/sealing/sealing.ts";
import { DEFAULT_SITE_CONFIGURATION } from "../../apps/collector/src/services/sites/service.ts";
import { startCollector } from "../system/deployment.ts";
import { startGrown } from "../system/grown.ts";
import { findMosquitto } from "../system/mosquitto.ts";
import type { ProbeIdentity } from "../system/simulated-probe.ts";
import { type FleetFloor, measureFleetFloor } from "./fleet-floor.ts";
import type { FleetOrder, FleetResult } from "./fleet-probes.ts";
import { familySeconds, processorSeconds } from "./processor-time.ts";

const PROBES = 2000;
const SECONDS = 30;
const PROBES_A_SITE = 10;

/**
 * A fleet of probes, each with its own certificate and its own TLS connection, in a process of their own; each says one event a
 * second, which is a batch of its own. The lag is from an event's being said to its being confirmed to its probe, which is after
 * its commit. Lost (of those confirmed) and doubled are counted in the database at the end; what was not confirmed in time, on a busy
 * machine, is `unconfirmed`. The memory is the most that the collectors have had together.
 *
 * With SQLite the same rows are then written bare, in transactions of as many batches as the collector's had, one flush each: the
 * floor. `ratio` is the collector's events per second over the floor's, or over what the probes said, where the floor could do more.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { probes, seconds, replicas } = readArguments(args);
  const deployment = await (replicas === null ? startSingle() : startReplicas(replicas));
  try {
    const database = await openDatabase(deployment.location);
    try {
      const { host, port } = deployment;
      const identities = await enroll(database, deployment.authority, probes);
      const { result, spent } = await runProbes(
        { seconds, probes: identities.map((identity) => ({ ...identity, host, port })) }, deployment.parts,
      );
      const rss = deployment.pids.reduce((sum, pid) => sum + peakRss(pid), 0);
      const counted = await count(database, result);
      const batches = await deployment.batchesPerTransaction();
      await deployment.pause();
      const floor = batches === null || deployment.directory === null ? null : await measureFleetFloor({
        directory: deployment.directory, probes: result.queues.length, seconds, batchesPerTransaction: batches,
      });
      report(result, { spent, counted, rss, batches, floor });
    } finally {
      await database.close();
    }
  } finally {
    await deployment.close();
  }
}

/** Prints what was measured, the last line as JSON. */
function report(result: FleetResult, { spent, counted, rss, batches, floor }: {
  readonly spent: Readonly<Record<string, number>>; readonly counted: Awaited<ReturnType<typeof count>>; readonly rss: number;
  readonly batches: number | null; readonly floor: FleetFloor | null;
}): void {
  const { p50, p99, longest } = result.lag;
  const perSecond = result.inTime / result.seconds;
  const each = (used: number) => Math.round((used / result.acknowledged) * 1e6);
  console.log(`${result.said} events in ${result.seconds.toFixed(1)} s; lag p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms`);
  console.log(`processor time for each event: ${Object.entries({ ...spent, probes: result.processorSeconds })
    .map(([name, used]) => `${name} ${each(used)} µs`).join(", ")}`);
  if (floor) console.log(`floor: ${Math.round(floor.eventsPerSecond)} events a second, ${batches?.toFixed(1)} batches in each transaction`);
  const bar = Math.min(floor?.eventsPerSecond ?? 0, result.said / result.seconds);
  console.log(JSON.stringify({
    bench: "fleet", probes: result.queues.length, events_per_second: Math.round(perSecond),
    floor_events_per_second: floor && Math.round(floor.eventsPerSecond), ratio: floor && Math.round((perSecond / bar) * 1000) / 1000,
    cpu_us_per_event: each(Object.values(spent).reduce((sum, used) => sum + used, 0)),
    floor_cpu_us_per_event: floor && Math.round(floor.processorMicrosecondsPerEvent),
    lag_p99_ms: p99, ...counted, rss_mb: Math.round(rss / 1e5) / 10,
  }));
}

interface Deployment {
  readonly location: DatabaseLocation;
  readonly authority: Authority;
  readonly host: string;
  readonly port: number;
  readonly pids: readonly number[];
  /** What has run so far, each with the seconds of the processor that it has had. */
  readonly parts: () => Readonly<Record<string, number>>;
  /** How many batches a transaction of ingest held on average; null where it is not known of one process alone. */
  batchesPerTransaction(): Promise<number | null>;
  /** Lets nothing of it run beside what is measured next. */
  pause(): Promise<void>;
  /** On the disk that it writes to; null where the floor is not SQLite's. */
  readonly directory: string | null;
  close(): Promise<void>;
}

/** One collector with the embedded broker and SQLite. */
async function startSingle(): Promise<Deployment> {
  const directory = mkdtempSync(join(tmpdir(), "lanthorn-fleet-"));
  const dataDir = join(directory, "collector");
  mkdirSync(dataDir);
  const authority = await openAuthority({ dataDir, clock: systemClock });
  const collector = await startCollector({ dataDir, host: "127.0.0.1", env: { LANTHORN_LOG_LEVEL: "warn" } });
  const { hostname: host, port } = new URL(String(collector.ready["mqtt_url"]));
  return {
    location: { file: join(dataDir, "lanthorn.db") }, authority, host, port: Number(port), pids: [collector.pid],
    directory, parts: () => ({ collector: processorSeconds(collector.pid) }),
    async batchesPerTransaction() {
      const metrics = await (await fetch(new URL("/metrics", collector.url))).text();
      const read = (name: string) => Number(new RegExp(`^lanthorn_ingest_${name}_total (\\d+)$`, "m").exec(metrics)?.[1]);
      return read("batches") / read("transactions");
    },
    pause: async () => void (await collector.stop()),
    async close() {
      await collector.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Several collectors on one mosquitto and one PostgreSQL, whose authority is in the database. */
async function startReplicas(replicas: number): Promise<Deployment> {
  const mosquitto = await findMosquitto();
  if (mosquitto === null) throw new Error("there is no mosquitto to be had");
  const grown = await startGrown(mosquitto, { replicas });
  const location = { url: grown.databaseUrl };
  const database = await openDatabase(location);
  const sealing = createSealing(openKeyring(grown.folder, grown.sealingKey));
  const secrets = secretsInDatabase({ db: database.db, sealing, dataDir: grown.folder });
  const authority = await openAuthority({ dataDir: grown.folder, secrets, clock: systemClock });
  await database.close();
  const pids = grown.collectors.map(({ pid }) => pid);
  return {
    location, authority, host: "127.0.0.1", port: grown.brokerPort, pids, directory: null,
    batchesPerTransaction: () => Promise.resolve(null), pause: () => Promise.resolve(), close: () => grown.close(),
    parts: () => ({
      PostgreSQL: familySeconds(grown.postgres.pid()), mosquitto: processorSeconds(grown.broker().pid),
      collectors: pids.reduce((sum, pid) => sum + processorSeconds(pid), 0),
    }),
  };
}

function readArguments(args: readonly string[]) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args: [...args], options: { probes: text, seconds: text, replicas: text, broker: text, database: text } });
  const number = (name: "probes" | "seconds" | "replicas", otherwise: number, most: number) => {
    const value = Number(values[name] ?? otherwise);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new Error(`--${name} takes a number from 1 to ${most}, not ${values[name]}`);
  };
  const kinds = `${values.broker ?? "aedes"} ${values.database ?? "sqlite"}`;
  if (kinds !== "aedes sqlite" && kinds !== "mosquitto postgres") {
    throw new Error("fleet measures --broker aedes with --database sqlite, or --broker mosquitto with --database postgres");
  }
  const replicas = kinds === "aedes sqlite" ? null : number("replicas", 1, 3);
  if (replicas === null && values.replicas !== undefined) throw new Error("--replicas needs --broker mosquitto --database postgres");
  return { probes: number("probes", PROBES, 5000), seconds: number("seconds", SECONDS, 600), replicas };
}

type Enrolled = Omit<ProbeIdentity, "host" | "port">;

/** Probes of one tenant, ten at each site, with certificates of the collector's own authority. */
async function enroll({ db }: Database, authority: Authority, count: number): Promise<readonly Enrolled[]> {
  const at = toInstant(Date.now());
  const tenantId = createId();
  await db.insertInto("tenants").values({ id: tenantId, name: "fleet", created_at: at }).execute();
  const identities: Enrolled[] = [];
  let siteId = "";
  for (let index = 0; index < count; index += 1) {
    if (index % PROBES_A_SITE === 0) {
      siteId = createId();
      await db.insertInto("sites").values({
        id: siteId, tenant_id: tenantId, name: `site ${index}`, created_at: at, probe_configuration: DEFAULT_SITE_CONFIGURATION,
      }).execute();
    }
    const probeId = createId();
    await db.insertInto("probes").values({
      id: probeId, tenant_id: tenantId, site_id: siteId, name: `probe ${index}`, enrolled_at: at, revoked_at: null,
      certificate_serial: "00", certificate_expires_at: at, version: "", state: "enrolled", silent_since: null, last_heard_at: null,
      run_id: null, health: null,
    }).execute();
    identities.push({ ca: authority.certificate, ...(await issueProbe(authority, probeId)), tenantId, probeId });
  }
  return identities;
}

async function runProbes(
  order: FleetOrder, parts: Deployment["parts"],
): Promise<{ readonly result: FleetResult; readonly spent: Readonly<Record<string, number>> }> {
  const script = fileURLToPath(new URL("./fleet-probes.ts", import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, script], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(order));
  let before: Readonly<Record<string, number>> | null = null;
  let last = "";
  for await (const line of createInterface({ input: child.stdout })) {
    before ??= parts();
    last = line;
    if (!line.startsWith("{")) console.log(line);
  }
  if (!last.startsWith("{")) throw new Error("the process of probes ended without a result");
  const spent = Object.entries(parts()).map(([name, seconds]) => [name, seconds - (before?.[name] ?? 0)] as const);
  return { result: JSON.parse(last) as FleetResult, spent: Object.fromEntries(spent) };
}

/** What was confirmed and is not there, what is there more than once, by the probes' own sequences, and what was not confirmed. */
async function count(database: Database, { queues }: FleetResult): Promise<{
  readonly lost: number; readonly duplicated: number; readonly unconfirmed: number;
}> {
  const rows = await database.reads.selectFrom("events").select(["queue_id", "probe_seq"]).where("queue_id", "is not", null).execute();
  const stored = new Set(rows.map(({ queue_id, probe_seq }) => `${queue_id} ${probe_seq}`));
  const lost = queues.flatMap(({ queueId, acknowledged }) => Array.from({ length: acknowledged }, (_, index) => `${queueId} ${index + 1}`))
    .filter((key) => !stored.has(key)).length;
  const unconfirmed = queues.reduce((sum, { said, acknowledged }) => sum + said - acknowledged, 0);
  return { lost, duplicated: rows.length - stored.size, unconfirmed };
}

/** The most memory that a process has had. */
function peakRss(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024;
}
