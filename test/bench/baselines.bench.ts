import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { createFakeClock, createId, type FakeClock, seededRandom, silentLog, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { insertMany } from "../../apps/collector/src/db/query/write-many.ts";
import type { Schema } from "../../apps/collector/src/db/schema.ts";
import { createAudit } from "../../apps/collector/src/services/audit/audit.ts";
import { openBaselines } from "../../apps/collector/src/services/baselines/open.ts";
import { createBaselinesStore } from "../../apps/collector/src/services/baselines/store/handles.ts";
import { createTopology } from "../../apps/collector/src/services/topology/topology.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../apps/collector/src/testing/gateway.ts";
import { seedDevices } from "./api-devices.ts";

const REPEATS = 5;
const DAY_MS = 86_400_000;
const PORTS = { tcp: "1-1000,4444", udp: "" };

/** What one phase took. */
interface Measured {
  readonly seconds: number;
  /** For how long at most nothing else could run, in milliseconds. */
  readonly heldMs: number;
  /** The longest transaction that writes, in milliseconds. */
  readonly transactionMs: number;
}

/**
 * Devices with ten open ports and their services, as a scan has left them, compared with their baselines in SQLite: when all is learned,
 * when nothing differs, when each has a new port, and when a person's change concerns all of them. The last line is JSON, with medians.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { devices: { type: "string", default: "5000" } } });
  const devices = Number(values.devices);
  if (!Number.isInteger(devices) || devices < 100 || devices > 100_000) throw new Error(`--devices takes a whole number from 100 to 100000, not ${values.devices}`);
  const clock = createFakeClock(Date.UTC(2026, 10, 20));
  const gateway = await startTestGateway({ clock, alerts: true });
  try {
    const tenant = await gateway.createTenant("admin");
    await seed(gateway, tenant, devices, clock);
    const meter = createMeter(gateway.db);
    const { watch } = openBaselines({
      ...gateway, db: meter.db, log: gateway.eventLog, published: () => {}, clock, logger: silentLog, audit: createAudit({ clock }),
      topologyOf: createTopology({ reads: gateway.reads, clock }).topologyOf,
      networks: { networkFactsOf: () => Promise.resolve([]), networkLooksOf: () => Promise.resolve([]) },
    }, { keepDays: 30 });
    /** Until nothing is due any more. */
    const settle = async () => {
      for (let due = 1; due > 0;) {
        await clock.advance(30_000);
        await watch.run();
        ({ due } = await gateway.reads.selectFrom("baselines").select((eb) => eb.fn.countAll<number>().as("due"))
          .where("compare_at", "<=", toInstant(clock.now())).executeTakeFirstOrThrow());
      }
    };
    const made = await meter.of(settle);
    const learned = await meter.of(async () => {
      for (let runs = 0; runs < 20; runs += 1) {
        await clock.advance(30_000);
        await watch.run();
      }
      await settle();
    });
    await clock.leap(DAY_MS);
    await settle();
    const [facts] = await gateway.reads.selectFrom("baseline_facts").select((eb) => eb.fn.countAll<number>().as("count")).execute();
    console.log(`learned  ${devices} devices, ${facts?.count} facts`);
    const store = createBaselinesStore({ ...gateway, db: meter.db });
    const [marked, same]: [Measured[], Measured[]] = [[], []];
    const before = process.memoryUsage().rss;
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      await clock.advance(1000);
      marked.push(await meter.of(() => store.change(tenant.tenantId, (_, concernsAll) => Promise.resolve(concernsAll(null, toInstant(clock.now()))))));
      same.push(await meter.of(() => watch.run()));
    }
    await newPorts(gateway, tenant, clock);
    await store.change(tenant.tenantId, (_, concernsAll) => Promise.resolve(concernsAll(null, toInstant(clock.now()))));
    const differ = await meter.of(settle);
    const [open] = await gateway.reads.selectFrom("baseline_differences").select((eb) => eb.fn.countAll<number>().as("count")).execute();
    for (const [name, of] of Object.entries({ made, learned, marked: median(marked), same: median(same), differ })) {
      console.log(`${name.padEnd(8)} ${of.seconds.toFixed(2)} s; loop held ${of.heldMs.toFixed(1)} ms, transaction ${of.transactionMs.toFixed(1)} ms at most`);
    }
    console.log(JSON.stringify({
      bench: "baselines", devices, facts: facts?.count, differences: open?.count, compared_per_second: Math.round(devices / median(same).seconds),
      held_ms: round(Math.max(...[made, learned, median(same), differ].map(({ heldMs }) => heldMs))),
      transaction_ms: round(Math.max(...[made, learned, median(same), differ].map(({ transactionMs }) => transactionMs))),
      mark_all_held_ms: round(median(marked).heldMs), mark_all_transaction_ms: round(median(marked).transactionMs),
      rss_grown_mb: Math.round((process.memoryUsage().rss - before) / 1_048_576),
    }));
  } finally {
    await gateway.stop();
  }
}

async function seed({ db }: TestGateway, { tenantId, siteId }: TestTenant, devices: number, clock: FakeClock): Promise<void> {
  await seedDevices(db, { tenantId, siteIds: [siteId] }, { devices, random: seededRandom(1) });
  const at = toInstant(clock.now());
  await db.updateTable("ports").set({ state: "open", last_scanned: at }).execute();
  await db.updateTable("devices").set({ presence_state: "online", last_seen: at }).execute();
  const scope = createId();
  await db.insertInto("port_scopes").values({ id: scope, tenant_id: tenantId, site_id: siteId, ...PORTS, used_at: at }).execute();
  const ids = await db.selectFrom("devices").select("id").execute();
  await insertMany(db, "port_looks", ids.map(({ id }) => ({ device_id: id, tenant_id: tenantId, scope_id: scope, looked_at: at, scan_id: "scan" })));
}

async function newPorts({ db }: TestGateway, { tenantId }: TestTenant, clock: FakeClock): Promise<void> {
  const ids = await db.selectFrom("devices").select("id").execute();
  const at = toInstant(clock.now());
  await insertMany(db, "ports", ids.map(({ id }) => ({
    device_id: id, tenant_id: tenantId, port: 4444, protocol: "tcp", state: "open", service: "", version: "", banner: "", last_scanned: at,
  })));
}

/** Measures what is done through its database. */
function createMeter(db: Kysely<Schema>) {
  let longest = 0;
  const timed = new Proxy(db, {
    get(target, name) {
      if (name !== "transaction") {
        const part = Reflect.get(target, name) as unknown;
        return typeof part === "function" ? part.bind(target) as unknown : part;
      }
      return () => ({
        async execute(work: Parameters<ReturnType<typeof target.transaction>["execute"]>[0]) {
          let beganAt = performance.now();
          try {
            return await target.transaction().execute((trx) => {
              beganAt = performance.now();
              return work(trx);
            });
          } finally {
            longest = Math.max(longest, performance.now() - beganAt);
          }
        },
      });
    },
  });
  return {
    db: timed,
    async of(work: () => Promise<unknown>): Promise<Measured> {
      longest = 0;
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const beganAt = performance.now();
      await work();
      const seconds = (performance.now() - beganAt) / 1000;
      // The delay is noted by a timer, which has to have its turn.
      await new Promise((resolve) => setTimeout(resolve, 5));
      delay.disable();
      return { seconds, heldMs: delay.max / 1e6, transactionMs: longest };
    },
  };
}

function median(of: readonly Measured[]): Measured {
  const middle = (pick: (one: Measured) => number) => of.map(pick).toSorted((a, b) => a - b)[of.length >> 1] ?? 0;
  return { seconds: middle(({ seconds }) => seconds), heldMs: middle(({ heldMs }) => heldMs), transactionMs: middle(({ transactionMs }) => transactionMs) };
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
