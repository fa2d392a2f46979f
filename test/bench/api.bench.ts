import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRestClient } from "@lanthorn/client";
import { DevicesQuery } from "@lanthorn/contract";
import { seededRandom, systemClock } from "@lanthorn/runtime";
import Sqlite from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import type { Schema } from "../../apps/collector/src/db/schema.ts";
import { createReadConditions } from "../../apps/collector/src/services/devices/conditions.ts";
import { createDevicesService } from "../../apps/collector/src/services/devices/service.ts";
import { createDevicesStore } from "../../apps/collector/src/services/devices/store/devices.ts";
import { SEED_PASSWORD, seedCollector, startSeeded } from "./seeded-collector.ts";

const LISTS = 2000;
const SEARCHES = 300;
const THROUGHPUT_SECONDS = 5;
const CONNECTIONS = 8;

/** The bench asks faster than any person may: the limits are raised by configuration, not taken out. */
const LIMITS = `
[rate_limits.admin]
per_minute = 100000
burst = 10000
`;

/**
 * How long lists and searches of devices take over HTTP, one after another, beside the same SQL on better-sqlite3 in this process
 * (the floor), and how many lists a second the collector serves to eight connections.
 * The last line is JSON; a list's p99 is to stay within three times the floor's and 2 ms.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { devices: { type: "string", default: "100000" } } });
  const devices = Number(values.devices);
  const isCount = Number.isInteger(devices) && devices >= 100 && devices <= 5_000_000;
  if (!isCount) throw new Error(`--devices takes a whole number from 100 on, not ${values.devices}`);
  const directory = mkdtempSync(join(tmpdir(), "lanthorn-bench-"));
  try {
    const seeded = await seedCollector(directory, { devices, configuration: LIMITS });
    const random = seededRandom(2);
    const lists = Array.from({ length: LISTS }, () => listQuery(random, devices, seeded.siteIds));
    const searches = Array.from({ length: SEARCHES }, () => searchQuery(random, devices));
    const floor = await measureFloor(join(directory, "lanthorn.db"), seeded.tenantId, lists);
    const served = await measureServed(directory, { lists, searches });
    console.log(`floor    list p50 ${ms(floor, 0.5)} p99 ${ms(floor, 0.99)} ms: the same SQL, no HTTP`);
    console.log(`served   list p50 ${ms(served.lists, 0.5)} p99 ${ms(served.lists, 0.99)} ms`);
    console.log(`         search p50 ${ms(served.searches, 0.5)} p99 ${ms(served.searches, 0.99)} ms`);
    console.log(JSON.stringify({
      bench: "api", list_p99_ms: ms(served.lists, 0.99), search_p99_ms: ms(served.searches, 0.99), floor_list_p99_ms: ms(floor, 0.99),
      requests_per_second: Math.round(served.perSecond), rss_mb: served.rssMegabytes,
    }));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What dashboards and scripts ask for: mostly first pages in some order, some later ones, some of one site or of who is online. */
function listQuery(random: (limit: number) => number, devices: number, siteIds: readonly string[]): string {
  const query = new URLSearchParams();
  const sort = ["ip", "hostname", "last_seen", "vendor"][random(4)] ?? "ip";
  query.set("sort", random(3) === 0 ? `-${sort}` : sort);
  if (random(4) === 0) query.set("page", String(1 + random(Math.min(50, Math.ceil(devices / 100)))));
  if (random(5) === 0) query.set("is_online", "true");
  if (random(10) === 0) query.set("site_id", siteIds[random(siteIds.length)] ?? "");
  return query.toString();
}

/** A name, or part of an address or a MAC, of a device that is there. */
function searchQuery(random: (limit: number) => number, devices: number): string {
  const index = random(devices);
  const bytes = [index >> 16, (index >> 8) & 255, index & 255];
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0"));
  const text = [String(index).padStart(6, "0"), `10.${bytes.join(".")}`, hex.slice(1).join(":"), "cam-oslo", "prn-"][random(5)] ?? "";
  return new URLSearchParams({ search: text, sort: random(2) === 0 ? "ip" : "-last_seen" }).toString();
}

/** Runs what the collector's own code would run, on statements that stay prepared. @returns Milliseconds of each list. */
async function measureFloor(file: string, tenantId: string, queries: readonly string[]): Promise<readonly number[]> {
  const connection = new Sqlite(file, { readonly: true });
  connection.pragma("cache_size = -32768");
  const recorded: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];
  const reads = new Kysely<Schema>({
    dialect: new SqliteDialect({ database: connection }), log: ({ query }) =>
      void recorded.push({ sql: query.sql, parameters: query.parameters }),
  });
  const nobody = () => Promise.reject(new Error("the bench only reads"));
  const store = createDevicesStore({ reads });
  const service = createDevicesService({
    store, editor: { create: nobody, update: nobody, remove: nobody },
    merger: { merge: nobody, split: nobody }, bulk: { change: nobody }, neighborsOf: () => Promise.resolve([]), cvesOf: () => Promise.resolve({ cves: [], counted: new Map() }),
    conditions: createReadConditions({ store, devicesWith: nobody, clock: systemClock }),
  });
  const statements = new Map<string, Sqlite.Statement>();
  const taken: number[] = [];
  for (const query of queries) {
    recorded.length = 0;
    await service.list(tenantId, DevicesQuery.parse(Object.fromEntries(new URLSearchParams(query))));
    const runs = recorded.map(({ sql, parameters }) => {
      const statement = statements.get(sql) ?? connection.prepare(sql);
      statements.set(sql, statement);
      return () => statement.all(...parameters);
    });
    const startedAt = performance.now();
    for (const runOne of runs) runOne();
    taken.push(performance.now() - startedAt);
  }
  await reads.destroy();
  return taken;
}

interface Served {
  readonly lists: readonly number[];
  readonly searches: readonly number[];
  readonly perSecond: number;
  readonly rssMegabytes: number;
}

async function measureServed(
  directory: string, queries: { readonly lists: readonly string[]; readonly searches: readonly string[] },
): Promise<Served> {
  const collector = await startSeeded(directory);
  try {
    const url = String(collector.ready["url"]);
    const { access_token: token } = await createRestClient({ url, token: () => null, fetch }).login({ username: "admin", password: SEED_PASSWORD });
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const ask = (query: string) => request(`${url}/api/v1/devices?${query}`, token, agent);
    // Both its code and its cache are warm in a collector that has been up for a minute.
    for (const query of queries.lists.slice(0, 200)) await ask(query);
    const lists = await timeEach(queries.lists, ask);
    const perSecond = await throughput(queries.lists, ask);
    const searches = await timeEach(queries.searches, ask);
    agent.destroy();
    return { lists, searches, perSecond, rssMegabytes: rssMegabytes(collector.pid) };
  } finally {
    await collector.stop();
  }
}

async function timeEach(queries: readonly string[], ask: (query: string) => Promise<void>): Promise<readonly number[]> {
  const taken: number[] = [];
  for (const query of queries) {
    const startedAt = performance.now();
    await ask(query);
    taken.push(performance.now() - startedAt);
  }
  return taken;
}

async function throughput(queries: readonly string[], ask: (query: string) => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  const endAt = startedAt + THROUGHPUT_SECONDS * 1000;
  let served = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    while (performance.now() < endAt) {
      await ask(queries[served % queries.length] ?? "");
      served += 1;
    }
  }));
  return (served / (performance.now() - startedAt)) * 1000;
}

/** Reads the answer to its end, and throws for anything but 200. */
function request(url: string, token: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.on("error", reject);
      response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(`${url} answered ${response.statusCode}`))));
      response.resume();
    }).on("error", reject);
  });
}

function rssMegabytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kibibytes) / 1024);
}

function ms(taken: readonly number[], share: number): number {
  const sorted = taken.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN) * 100) / 100;
}
