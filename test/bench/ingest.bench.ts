import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createId, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { createRequest } from "../../apps/collector/src/certificates/testing/request.ts";
import type { Schema } from "../../apps/collector/src/db/schema.ts";
import type { Delivered, ProbeSite } from "../../apps/collector/src/ingest/messages/read-batch.ts";
import { type Collector, startCollector } from "../system/deployment.ts";
import { delivered, measureFloor } from "./ingest-floor.ts";
import { makeBatches, readPayload, type SenderOrder } from "./ingest-sender.ts";

const EVENTS = 200_000;
const SEED = 20_261_120;

/**
 * How fast one probe's queue becomes committed rows: a process of its own sends over TLS MQTT, one batch in flight, to the real
 * collector; beside better-sqlite3 writing the same rows in the same transactions (the floor).
 * The last line is JSON; `ratio` is the collector's events per second over the floor's.
 */
export async function run(args: readonly string[]): Promise<void> {
  const events = args[0] === undefined ? EVENTS : Number(args[0]);
  if (!Number.isInteger(events) || events < 1 || events > 10_000_000) throw new Error(
    `ingest takes one number, the events to send, not ${args[0]}`,
  );
  const directory = mkdtempSync(join(tmpdir(), "lanthorn-bench-"));
  try {
    const sent = await measureCollector(join(directory, "collector"), events);
    const batchKibibytes = Math.round(sent.bytes / sent.batches / 1024);
    console.log(`collector  ${sent.seconds.toFixed(2)} s for ${events} events in ${sent.batches} batches of ${batchKibibytes} KiB`);
    const probe = { tenantId: createId(), siteId: createId(), probeId: createId() };
    const floor = await measureFloor({ directory, groups: groupsOf(probe, events), prepare: (db) => prepare(db, probe) });
    console.log(
      `floor      ${floor.manyRows.seconds.toFixed(2)} s by statements of many rows, ${floor.rowByRow.seconds.toFixed(2)} s row by row, ${floor.rows} rows`,
    );
    const floorSeconds = Math.min(floor.manyRows.seconds, floor.rowByRow.seconds);
    console.log(JSON.stringify({
      bench: "ingest", events, events_per_second: Math.round(events / sent.seconds),
      floor_events_per_second: Math.round(events / floorSeconds),
      ratio: Math.round((floorSeconds / sent.seconds) * 1000) / 1000,
    }));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** One batch a transaction, as they come from one probe. */
function* groupsOf(probe: ProbeSite, events: number): Generator<readonly Delivered[]> {
  for (const { payload } of makeBatches(events, SEED)) yield [delivered(probe, readPayload(payload))];
}

interface Sent {
  readonly seconds: number;
  readonly batches: number;
  readonly bytes: number;
}

async function measureCollector(dataDir: string, events: number): Promise<Sent> {
  const collector = await startCollector({ dataDir, host: "127.0.0.1", env: { LANTHORN_LOG_LEVEL: "warn" } });
  try {
    const order = await enroll(collector, events);
    const sender = fileURLToPath(new URL("./ingest-sender.ts", import.meta.url));
    const child = spawn(process.execPath, [...process.execArgv, sender, "send"], { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(JSON.stringify(order));
    const lines = (await text(child.stdout)).trim().split("\n");
    return JSON.parse(lines.at(-1) || "null") as Sent | null ?? fail(collector);
  } finally {
    await collector.stop();
  }
}

function fail({ dataDir }: Collector): never {
  const log = readFileSync(join(dataDir, "collector.log"), "utf8").trimEnd().split("\n").slice(-12).join("\n");
  throw new Error(`the sender gave up; the collector's log ends:\n${log}`);
}

/** A probe of the collector's first site, enrolled as any other. */
async function enroll({ rest }: Collector, events: number): Promise<SenderOrder> {
  const site = (await rest.listSites()).data[0];
  if (!site) throw new Error("the collector has no site");
  const { token } = await rest.createEnrollmentToken({ site_id: site.id });
  const { key, request } = await createRequest();
  const identity = await rest.enrollProbe({ token, certificate_request: request, name: "bench" });
  return {
    mqttUrl: identity.mqtt_url, ca: identity.ca_certificate, key, certificate: identity.certificate, tenantId: identity.tenant_id,
    probeId: identity.probe_id, events, seed: SEED,
  };
}

async function prepare(
  db: Kysely<Schema>, probe: { readonly tenantId: string; readonly siteId: string; readonly probeId: string },
): Promise<void> {
  const at = toInstant(Date.now());
  await db.insertInto("tenants").values({ id: probe.tenantId, name: "bench", created_at: at }).execute();
  await db.insertInto("sites").values({
    id: probe.siteId, tenant_id: probe.tenantId, name: "bench", probe_configuration: "{}", created_at: at,
  }).execute();
}
