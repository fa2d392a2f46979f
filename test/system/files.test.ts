import { createHash, randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../lab/free-port.ts";
import { waitFor } from "../lab/wait-for.ts";
import type { Daemon } from "./daemon.ts";
import { type Collector, enrollProbe, type ProbeBox, runProbeCommand, startCollector, startProbe } from "./deployment.ts";

const MIB = 1024 * 1024;
/** FILE_MEGABYTES=200 sends a large one. */
const SIZE = Number(process.env["FILE_MEGABYTES"] ?? 24) * MIB + 12_345;
const KILLS_OF_EACH = 5;
/** The whole takes some seconds, and each kill falls into them. */
const BYTES_PER_SECOND = Math.max(6 * MIB, Math.round(SIZE / 40));

describe("a large capture that a probe sends while either side is killed again and again", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-files-"));
  const box: ProbeBox = { dataDir: join(folder, "probe") };
  const configuration = join(folder, "probe.toml");
  const dataDir = join(folder, "collector");
  const running: { probe?: Daemon; collector?: Collector } = {};
  const ports = { https: 0, mqtt: 0 };
  const enrolled = { probeId: "", siteId: "" };

  const start = {
    async probe() {
      running.probe = await startProbe(box, { interface: "no-such-if", args: ["--config", configuration] });
    },
    async collector() {
      const env = { LANTHORN_HTTPS_PORT: String(ports.https), LANTHORN_MQTT_PORT: String(ports.mqtt) };
      running.collector = await startCollector({ dataDir, host: "127.0.0.1", env });
    },
  };

  beforeAll(async () => {
    writeFileSync(configuration, `[files]\nbytes_per_second = ${BYTES_PER_SECOND}\n`);
    Object.assign(ports, { https: await findFreePort(), mqtt: await findFreePort() });
    await start.collector();
    if (running.collector) Object.assign(enrolled, await enrollProbe(running.collector, box, "sender"));
  });

  afterAll(async () => {
    await running.probe?.kill();
    await running.collector?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  test(`arrives whole, once, and verified: ${SIZE} bytes`, async () => {
    const path = join(folder, "evening.pcap");
    const digest = writeRandomFile(path, SIZE);
    const sent = await runProbeCommand(box, ["files", "send", path, "--kind", "capture"]);
    expect([sent.code, sent.stderr]).toEqual([0, ""]);
    const { id } = JSON.parse(sent.stdout) as { readonly id: string };
    sayWhatItIs(dataDir, { ...enrolled, id, digest });
    const home = join(dataDir, "files", enrolled.probeId);
    const here = () => statSync(join(home, `${id}.part`), { throwIfNoEntry: false })?.size ?? 0;
    const stateOf = async () => (await running.collector?.rest.readPcap(id))?.state;
    const startedAt = performance.now();
    await start.probe();
    for (let kill = 0; kill < KILLS_OF_EACH * 2; kill += 1) {
      const wanted = Math.floor((SIZE * (kill + 1)) / (KILLS_OF_EACH * 2 + 2));
      const at = await waitFor(`${wanted} bytes at the collector`, () => (here() >= wanted ? here() : null), { everyMs: 3 });
      expect(at).toBeLessThan(SIZE);
      const which = kill % 2 === 0 ? "probe" : "collector";
      await running[which]?.kill();
      await start[which]();
    }
    await waitFor("the whole file", async () => ((await stateOf()) === "ready" ? true : null), { everyMs: 500 });
    await waitFor("an empty spool", () => (readdirSync(join(box.dataDir, "outgoing")).length === 0 ? true : null));
    process.stderr.write(`files: ${SIZE} bytes in ${Math.round(performance.now() - startedAt)} ms with ${KILLS_OF_EACH * 2} kills\n`);

    // What was sent is stored encrypted, and nowhere else: what came goes when that is done.
    await waitFor("nothing in clear", () => (readdirSync(home).length === 0 ? true : null));
    expect(existsSync(join(dataDir, "captures", id.slice(34, 36), id))).toBe(true);
    const hash = createHash("sha256");
    const content = await running.collector?.rest.downloadPcap(id);
    for await (const chunk of content ?? []) hash.update(chunk);
    expect(hash.digest("hex")).toBe(digest);
    const db = new Database(join(dataDir, "lanthorn.db"), { readonly: true });
    expect(db.prepare("SELECT id, state, received, attempts FROM probe_files").all()).toEqual([{ id, state: "taken", received: SIZE, attempts: 0 }]);
    db.close();
    const log = readFileSync(join(dataDir, "collector.log"), "utf8").split("\n");
    expect(log.filter((line) => line.includes("received a file from a probe"))).toHaveLength(1);
    // It went on each time from where it was: at most the piece that was on its way went twice.
    const pieces = log.filter((line) => line.includes('"method":"PUT"') && line.includes('"status":200')).length;
    expect(pieces).toBeLessThanOrEqual(Math.ceil(SIZE / MIB) + KILLS_OF_EACH * 4);
  });
});

/** What a recorder would have reported of the file, which an operator has put into the spool by hand. */
function sayWhatItIs(dataDir: string, { id, probeId, siteId, digest }: { readonly id: string; readonly probeId: string; readonly siteId: string; readonly digest: string }): void {
  const db = new Database(join(dataDir, "lanthorn.db"), { timeout: 10_000 });
  const at = new Date().toISOString();
  const row = {
    id, tenant_id: db.prepare("SELECT id FROM tenants").pluck().get(), site_id: siteId, probe_id: probeId, trigger: "request", state: "at_probe", detail: "", is_cut: 0,
    file_name: "evening.pcap", size_bytes: SIZE, sha256: digest, packets: 1, interfaces: "[]", filter: "", snap_length: 0, headers_only: 0,
    counters: JSON.stringify({ received: 1, dropped_by_kernel: 0, dropped_by_probe: 0, left_out: 0 }), alert_ids: "[]", macs: "[]", ips: "[]", happened_at: at,
    created_at: at, updated_at: at, stored_bytes: 0, deletion_heard: 0,
  };
  const names = Object.keys(row);
  db.prepare(`INSERT INTO pcaps (${names.map((name) => `"${name}"`).join()}) VALUES (${names.map((name) => `@${name}`).join()})`).run(row);
  db.close();
}

/** @returns SHA-256 of what it wrote. */
function writeRandomFile(path: string, size: number): string {
  const hash = createHash("sha256");
  const file = openSync(path, "w");
  for (let left = size; left > 0; left -= MIB) {
    const bytes = randomBytes(Math.min(MIB, left));
    hash.update(bytes);
    writeSync(file, bytes);
  }
  closeSync(file);
  return hash.digest("hex");
}
