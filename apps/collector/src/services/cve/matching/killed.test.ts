import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../../../db/open.ts";
import { noteSoftwareChanges } from "../../../software/changes-store.ts";
import { NO_SOFTWARE } from "../../../software/columns.ts";
import { openTestDatabase, testEnvironment } from "../../../testing/database.ts";
import { importFeeds } from "../database/import.ts";
import { nvdRecord } from "../database/testing/nvd.ts";

const MAIN = fileURLToPath(new URL("../../../../dist/main.js", import.meta.url));
const PRODUCTS = 300;
const AT = "2026-01-01T00:00:00.000Z";

let dataDir = "";
let child: ChildProcess | undefined;
let database: Database;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-match-"));
  database = await openTestDatabase(dataDir);
});
afterEach(async () => {
  await killCollector();
  await database.close();
  rmSync(dataDir, { recursive: true });
});

/** The whole collector as a process, until it serves. */
async function startCollector(): Promise<void> {
  writeFileSync(join(dataDir, "collector.toml"), "");
  const started = spawn(process.execPath, [MAIN, "run", "--config", join(dataDir, "collector.toml")], {
    env: {
      PATH: process.env["PATH"], LANTHORN_DATA_DIR: dataDir, LANTHORN_HTTP_PORT: "0", LANTHORN_HTTPS_ENABLED: "false", LANTHORN_MQTT_PORT: "0", LANTHORN_MQTT_HOST: "127.0.0.1",
      LANTHORN_FEEDS_ENABLED: "false", LANTHORN_ADMIN_PASSWORD: "a password for tests", ...(await testEnvironment(dataDir)),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child = started;
  let log = "";
  started.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: started.stdout }).on("line", (line) => {
      if (line.startsWith("ready ")) resolve();
    });
    started.on("close", () => reject(new Error(log)));
  });
}

async function killCollector(): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => {
    child?.on("exit", resolve);
  });
  child.kill("SIGKILL");
  await ended;
}

/** A CVE of each product, in versions before one. */
async function load(name: string, before: string, modified: string): Promise<void> {
  const lines = Array.from({ length: PRODUCTS }, (_, index) => {
    const { cve } = nvdRecord({ id: `CVE-2025-${10_000 + index}`, modified }) as { readonly cve: object };
    const match = { vulnerable: true, criteria: `cpe:2.3:a:example:product${index}:*:*:*:*:*:*:*:*`, versionEndExcluding: before };
    return `${JSON.stringify({ cve: { ...cve, configurations: [{ nodes: [{ operator: "OR", negate: false, cpeMatch: [match] }] }] } })}\n`;
  });
  const path = join(dataDir, name);
  writeFileSync(path, lines.join(""));
  const result = await importFeeds({
    directory: join(dataDir, "cve"), now: Date.UTC(2026, 0, 10), acceptsDrop: false, feeds: [{ name, format: "nvd", isWhole: true, files: [{ name, path }] }],
  }, () => {});
  expect(result.state).toBe("imported");
}

/** A device with all products, each in version 1.0. */
async function seed(): Promise<void> {
  const site = await database.db.selectFrom("sites").selectAll().executeTakeFirstOrThrow();
  const { tenant_id } = site;
  await database.db.transaction().execute(async (trx) => {
    for (let number = 0; number < PRODUCTS / 10; number += 1) {
      const device_id = createId();
      await trx.insertInto("devices").values({
        id: device_id, tenant_id, site_id: site.id, ip: `10.0.0.${number + 1}`, ip_key: `10.0.0.${number + 1}`, mac: "", hostname: "", hostname_key: "", vendor: "", os_guess: "", device_type: "server",
        is_online: 1, presence_state: "online", first_seen: AT, last_seen: AT, open_ports: "[]", tags: "[]", locked_fields: "[]",
      }).execute();
      for (let port = 1; port <= 10; port += 1) {
        await trx.insertInto("ports").values({
          device_id, tenant_id, port, protocol: "tcp", state: "open", service: "x", version: "", banner: "", last_scanned: AT, ...NO_SOFTWARE,
          vendor: "example", product: `product${number * 10 + port - 1}`, product_version: "1.0",
        }).execute();
      }
      await noteSoftwareChanges(trx, [{ device_id, tenant_id, since: AT }]);
    }
  });
}

const judged = async (generation: number) => (await database.db.selectFrom("judged_software").select("id").where("generation", "=", generation).execute()).length;
const open = async () => (await database.db.selectFrom("service_software").innerJoin("cve_judgments", "cve_judgments.software_id", "service_software.software_id")
  .select("cve_id").where("service_software.until", "is", null).where("cve_judgments.until", "is", null).execute()).length;
const said = async () => (await database.db.selectFrom("events").select("data").where("type", "=", "vuln_found").execute()).map(({ data }) => data);
const alerts = async () => (await database.db.selectFrom("alerts").select("id").where("type", "=", "vulnerability").where("status", "=", "open").execute()).length;

/** Waits for a fact of the database, which another process changes. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  await expect.poll(isTrue, { interval: 5 }).toBe(true);
}

test("a collector that is killed in the middle of matching, and of matching again, completes both", async () => {
  await startCollector();
  await seed();
  await load("first.jsonl", "2.0", "2026-01-01T00:00:00.000");
  await until(async () => await judged(1) > 20);
  await killCollector();
  await startCollector();
  await until(async () => await open() === PRODUCTS && (await said()).length === PRODUCTS && await alerts() > 0);
  expect((await database.db.selectFrom("software_changes").selectAll().execute()).length).toBe(0);

  await load("second.jsonl", "0.5", "2026-01-05T00:00:00.000");
  await until(async () => await judged(2) > 20);
  await killCollector();
  await startCollector();
  await until(async () => await judged(2) === PRODUCTS && await open() === 0 && await alerts() === 0);
  // None was lost, and none was said twice.
  expect([(await said()).length, new Set(await said()).size]).toEqual([PRODUCTS, PRODUCTS]);
});
