import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Random, seededRandom } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../lab/run-command.ts";
import { writeCaptureOfHosts } from "./capture-of-hosts.ts";
import type { Daemon } from "./daemon.ts";
import { type Collector, COLLECTOR, enrollProbe, type ProbeBox, runProbeCommand, startCollector, startProbe } from "./deployment.ts";
import { findFreePort } from "../lab/free-port.ts";
import { findMosquitto, type Mosquitto, startMosquitto } from "./mosquitto.ts";
import { waitFor } from "../lab/wait-for.ts";

const HOSTS = 20_000;
const KILLS_OF_EACH = 5;
const TARGETS = ["probe", "broker", "collector"] as const;
type Target = (typeof TARGETS)[number];

/** Kills are spread over this many events; the rest leaves room for the last one to be felt. */
const KILLED_WITHIN = 18_500;
/** A batch is on its way, committed and acknowledged in about this time: a kill may fall into any part of it. */
const BATCH_MS = 120;

const root = await findMosquitto();

describe.skipIf(root === null)("while probe, broker and collector are killed again and again", () => {
  const seed = Number(process.env["CRASH_SEED"] ?? randomInt(2 ** 31));
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-crash-"));
  const box: ProbeBox = { dataDir: join(folder, "probe") };
  const configuration = join(folder, "probe.toml");
  const capture = join(folder, "hosts.pcap");
  const dataDir = join(folder, "collector");
  const certificates = join(folder, "certificates");
  const running: { probe?: Daemon; broker?: Mosquitto; collector?: Collector } = {};
  let port = 0;
  let probeId = "";
  let macs: readonly string[] = [];

  const start: Readonly<Record<Target, () => Promise<void>>> = {
    async probe() {
      running.probe = await startProbe(box, { interface: "none", args: ["--replay", capture, "--config", configuration] });
    },
    async broker() {
      if (root) running.broker = await startMosquitto(root, { folder: join(folder, "mosquitto"), certificates, port });
    },
    async collector() {
      running.collector = await startCollector({ dataDir, host: "127.0.0.1", env: { LANTHORN_MQTT_URL: `mqtts://127.0.0.1:${port}` } });
    },
  };

  beforeAll(async () => {
    process.stderr.write(`crash: CRASH_SEED=${seed}\n`);
    macs = writeCaptureOfHosts(capture, HOSTS);
    writeFileSync(configuration, `max_hosts = ${HOSTS}\n[health]\ninterval_seconds = 5\n`);
    port = await findFreePort();
    // The broker's certificate comes from the collector, which therefore starts before there is a broker.
    await start.collector();
    await runCommand(process.execPath, [COLLECTOR, "certificate", "--name", "127.0.0.1", "--out", certificates], {
      env: { LANTHORN_DATA_DIR: dataDir },
    });
    await start.broker();
    if (running.collector) ({ probeId } = await enrollProbe(running.collector, box, "crashing"));
  });

  afterAll(async () => {
    await running.probe?.kill();
    await running.broker?.kill();
    await running.collector?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  test(`every one of ${HOSTS} events is stored, once and in order`, async () => {
    await start.probe();
    let kills = 0;
    let from = 0;
    for (const { target, at, afterMs } of planKills(seededRandom(seed))) {
      const felt = await waitFor(`event ${Math.max(at, from)}`, () => {
        const count = countEvents(dataDir);
        return count >= Math.max(at, from) ? count : null;
      }, { everyMs: 25 });
      await pause(afterMs);
      expect(felt).toBeLessThan(HOSTS);
      await running[target]?.kill();
      kills += 1;
      await start[target]();
      // The next kill waits until what was killed has been seen to work again.
      from = countEvents(dataDir) + 1;
    }
    await waitFor("every event", () => (countEvents(dataDir) >= HOSTS ? true : null), { everyMs: 500 });
    await waitFor("an empty queue", async () => {
      const { stdout } = await runProbeCommand(box, ["status", "--json", "--config", configuration]);
      return (JSON.parse(stdout) as { readonly queue: { readonly events: number } }).queue.events === 0 ? true : null;
    });
    const report = measure(dataDir, probeId, macs);
    process.stdout.write(`${JSON.stringify({ sent: macs.length, ...report, kills })}\n`);
    expect({ ...report, kills }).toEqual({ stored: HOSTS, duplicates: 0, out_of_order: 0, kills: TARGETS.length * KILLS_OF_EACH });
    expect((await running.collector?.rest.listDevices({ per_page: 1 }))?.meta.total).toBe(HOSTS);
  });
});

interface Kill {
  readonly target: Target;
  /** Events that the collector has by then. */
  readonly at: number;
  readonly afterMs: number;
}

/** Each target as often as the others, in any order, at random places of equal parts of the flow. */
function planKills(random: Random): readonly Kill[] {
  const targets = TARGETS.flatMap((target) => Array.from({ length: KILLS_OF_EACH }, () => ({ target, key: random(2 ** 32) })));
  const part = KILLED_WITHIN / targets.length;
  return targets
    .toSorted((a, b) => a.key - b.key)
    .map(({ target }, index) => ({ target, at: Math.ceil(index * part) + random(Math.floor(part)), afterMs: random(BATCH_MS) }));
}

/** What the collector's database holds of this probe's own events, held against the capture. The collector's about it have no queue. */
function measure(dataDir: string, probeId: string, macs: readonly string[]) {
  const rows = query<{ type: string; queue_id: string; probe_seq: number; mac: string | null }>(
    dataDir, "select type, queue_id, probe_seq, json_extract(data, '$.mac') as mac from events where probe_id = ? and queue_id is not null "
      + "order by seq", probeId,
  );
  const placeOf = new Map(macs.map((mac, index) => [mac, index]));
  const found = rows.filter(({ type }) => type === "host_found").map(({ mac }) => placeOf.get(mac ?? "") ?? -1);
  const stored = new Set(found.filter((place) => place >= 0)).size;
  const queueIds = [...new Set(rows.map((row) => row.queue_id))];
  const queues = queueIds.map((id) => rows.filter((row) => row.queue_id === id).map((row) => row.probe_seq));
  const sequences = queues.reduce((sum, queue) => sum + new Set(queue).size, 0);
  return {
    stored,
    duplicates: found.length - stored + (rows.length - sequences),
    // By the order of the capture, and by the probe's own numbers.
    out_of_order: countFalls(found) + queues.reduce((sum, queue) => sum + countFalls(queue), 0),
  };
}

function countFalls(numbers: readonly number[]): number {
  return numbers.filter((number, index) => index > 0 && number <= (numbers[index - 1] ?? -1)).length;
}

function countEvents(dataDir: string): number {
  return query<{ count: number }>(dataDir, "select count(*) as count from events where type = 'host_found'")[0]?.count ?? 0;
}

/** Opened anew each time: a reader that stays would spare the collector the recovery that it has to do after a kill. */
function query<Row>(dataDir: string, sql: string, ...parameters: readonly unknown[]): readonly Row[] {
  const database = new Database(join(dataDir, "lanthorn.db"), { readonly: true, fileMustExist: true });
  try {
    return database.prepare<unknown[], Row>(sql).all(...parameters);
  } finally {
    database.close();
  }
}
