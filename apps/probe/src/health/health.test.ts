import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVENTS, HEALTH_METRICS, ProbeHealth } from "@lanthorn/contract/uplink";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readProbeConfiguration } from "../configuration.ts";
import { openProbeDatabase, type ProbeDatabase } from "../queue/database.ts";
import { createOutbox, type Outbox } from "../queue/outbox.ts";
import { createHealthAlerts, type HealthAlerts } from "./alerts.ts";
import { createHealthWatch } from "./health.ts";
import { createMachineReader, type MachineFacts } from "./machine.ts";
import { limitsOf, toHealthAlert } from "./metrics.ts";

const clock = createFakeClock();
const limits = limitsOf(readProbeConfiguration("/dev/null", {}).health.limits);
const GIB = 1024 ** 3;
const CALM: MachineFacts = {
  cpuPercent: 0.4, load1m: 0.1, cores: 2, temperatureCelsius: 45,
  memory: { rssBytes: 8e7, availableBytes: GIB, totalBytes: 2 * GIB }, disk: { freeBytes: 5 * GIB, totalBytes: 10 * GIB },
};

let directory: string;
let database: ProbeDatabase;
let outbox: Outbox;
let alerts: HealthAlerts;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-health-"));
  database = openProbeDatabase(join(directory, "probe.db"), { clock, log: silentLog });
  outbox = createOutbox({ db: database.db, clock, log: silentLog, budgetBytes: 1e6, onAppended: () => undefined });
  alerts = createHealthAlerts({ db: database.db, outbox, log: silentLog, limits, samples: 3 });
});
afterEach(() => {
  database.close();
  rmSync(directory, { recursive: true, force: true });
});

const published = () => (outbox.take({ maxEvents: 500, maxBytes: 1e6 })?.events ?? []).map(({ type, data }) => {
  expect(type).toBe("probe_health_alert");
  return EVENTS.probe_health_alert.data.parse(JSON.parse(data));
});

/** Follows health over some reports; what is not given is calm. */
async function follow(reports: readonly {
  readonly machine?: Partial<MachineFacts>; readonly up?: boolean; readonly dropped?: number; readonly offsetMs?: number;
  readonly daysLeft?: number; readonly unreachable?: number; readonly traffic?: { readonly dropped?: number; readonly shed?: number; readonly gaps?: number };
}[]) {
  const seen: ProbeHealth[] = [];
  let current = reports[0] ?? {};
  let frames = 0;
  let dropped = 0;
  const traffic = { frames: 0, dropped: 0, shed: 0 };
  const health = createHealthWatch({
    sources: {
      machine: () => ({ ...CALM, ...current.machine }),
      outbox: () => outbox.state(),
      capture: () => ({ frames, dropped }),
      interface: () => ({ name: "lan0", up: current.up ?? true, networks: ["10.1.0.0/16"] }),
      hosts: () => ({ online: 3, known: 4 }),
      clockOffsetMs: () => current.offsetMs ?? null,
      certificateEndsAt: () => clock.now() + (current.daysLeft ?? 60) * 86_400_000,
      configuration: () => ({ revision: 7, error: null }),
      coverage: () => null,
      traffic: () => ({
        ...traffic, recentGaps: current.traffic?.gaps ?? 0, health: {
          state: "running", error: null, memory_bytes: 1, restarts: 0, gap: null, interfaces: [], shed: [], ring: { seconds: 0, bytes: 0 }, captures: [], continuous: null,
        },
      }),
      networkFacts: () => null,
      ids: () => null,
      decoys: () => null,
      resolver: () => ({
        queries: 1, from_cache: 0, stale: 0, forwarded: 1, failed: 0, limited: 0, ignored: 0, blocked: 0, observed: 0, threats_left_out: 0, upstreams: 2, upstreams_down: 2,
        unreachable: current.unreachable ?? 0,
      }),
      guards: () => ({ enabled: true, active: false, learning_until: "2026-11-20T09:00:00.000Z" }),
      bundles: () => [{ name: "fingerprints", version: 3, error: null }],
    },
    alerts, clock, budgetBytes: 1e6, intervalMs: 30_000, version: "1.2.3", onHealth: (report) => seen.push(report),
  });
  for (const report of reports.slice(1)) {
    current = report;
    frames += 1000;
    dropped += report.dropped ?? 0;
    traffic.frames += 1000;
    traffic.dropped += report.traffic?.dropped ?? 0;
    traffic.shed += report.traffic?.shed ?? 0;
    await clock.advance(30_000);
  }
  health.close();
  return { seen, health };
}
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

describe("health", () => {
  test("is reported at once, soon again, and every 30 seconds, in the contract's shape", async () => {
    const { seen } = await follow(times(4, {}));
    expect(seen.map(({ uptime_seconds: at }) => at)).toEqual([0, 3, 30, 60, 90]);
    for (const report of seen) expect(ProbeHealth.parse(report)).toEqual(report);
    expect(seen[4]).toMatchObject({
      uptime_seconds: 90, capture: { frames: 3000 }, hosts: { online: 3, known: 4 },
      interface: { name: "lan0", up: true, networks: ["10.1.0.0/16"] }, configuration: { revision: 7, error: null },
    });
    expect(published()).toEqual([]);
  });

  test.each([
    ["cpu", { machine: { cpuPercent: 95 } }],
    ["memory", { machine: { memory: { rssBytes: 8e7, availableBytes: 0.01 * GIB, totalBytes: GIB } } }],
    ["disk", { machine: { disk: { freeBytes: 0.01 * GIB, totalBytes: GIB } } }],
    ["load", { machine: { load1m: 20 } }],
    ["temperature", { machine: { temperatureCelsius: 99 } }],
    ["capture_drops", { dropped: 200 }],
    ["traffic_drops", { traffic: { dropped: 100 } }],
    ["traffic_shed", { traffic: { shed: 500 } }],
    ["traffic_process", { traffic: { gaps: 1 } }],
    ["resolver_servers", { unreachable: 1 }],
    ["clock_offset", { offsetMs: -45_000 }],
    ["interface", { up: false }],
    ["certificate", { daysLeft: 5 }],
  ])("raises %s once after three reports, and clears it once", async (metric, bad) => {
    await follow([{}, ...times(6, bad), ...times(6, {}), ...times(6, { offsetMs: 0 })]);
    expect(published().map(({ metric: of, state }) => [of, state])).toEqual([[metric, "raised"], [metric, "cleared"]]);
  });

  test("raises the disk when it takes nothing, whatever the file system says, and loses neither the alert nor what waited", async () => {
    database.db.pragma(`max_page_count = ${Number(database.db.pragma("page_count", { simple: true }))}`);
    outbox.append(
      times(500, { type: "error", occurred_at: "2026-01-01T00:00:00.000Z", data: { code: "test", message: "x".repeat(200) } } as const),
    );
    await follow(times(4, {}));
    expect(alerts.raised()).toEqual(["disk"]);
    database.db.pragma("max_page_count = 100000");
    await clock.advance(1000);
    expect(outbox.state()).toMatchObject({ events: 501, inMemory: 0, writable: true });
    const count = database.db.prepare("SELECT count(*) AS n FROM outbox WHERE type = 'probe_health_alert'").get();
    expect(count).toEqual({ n: 1 });
    outbox.close();
  });

  test("clears after a restart what was raised before it, and does not raise it twice", async () => {
    await follow(times(4, { up: false }));
    alerts = createHealthAlerts({ db: database.db, outbox, log: silentLog, limits, samples: 3 });
    await follow([...times(4, { up: false }), ...times(3, {})]);
    expect(published().map(({ state }) => state)).toEqual(["raised", "cleared"]);
  });

  test("has turned as long as its looks take place", async () => {
    const { health } = await follow([{}]);
    expect(health.turning()).toBe(true);
    await clock.advance(90_000);
    expect(health.turning()).toBe(false);
  });

  test("has words for each metric that fit the contract", () => {
    expect(limits.map(({ metric }) => metric).toSorted()).toEqual([...HEALTH_METRICS].toSorted());
    for (const limit of limits) {
      for (const change of ["raised", "cleared"] as const) {
        expect(EVENTS.probe_health_alert.data.safeParse(toHealthAlert(limit, change, 1 / 3)).success).toBe(true);
        // It is the title of an alert.
        expect(toHealthAlert(limit, change, 1 / 3).message).toMatch(/^[A-Z]/);
      }
    }
  });
});

describe("the machine", () => {
  test("tells of itself what this one has", () => {
    const facts = createMachineReader({ dataDir: directory, clock })();
    expect(facts.memory.rssBytes).toBeGreaterThan(1e7);
    expect(facts.memory.totalBytes).toBeGreaterThan(facts.memory.availableBytes);
    expect(facts.disk.totalBytes).toBeGreaterThan(0);
  });

  test("is as hot as its hottest plausible sensor, and says nothing where it has none", () => {
    mkdirSync(join(directory, "proc"), { recursive: true });
    expect(createMachineReader({ dataDir: directory, clock, root: directory })().temperatureCelsius).toBeNull();
    for (const [zone, text] of [["0", "41500"], ["1", "-273000"], ["2", "nonsense"], ["3", "67250\n"]] as const) {
      mkdirSync(join(directory, `sys/class/thermal/thermal_zone${zone}`), { recursive: true });
      writeFileSync(join(directory, `sys/class/thermal/thermal_zone${zone}/temp`), text);
    }
    expect(createMachineReader({ dataDir: directory, clock, root: directory })().temperatureCelsius).toBe(67.25);
  });

  test("that tells nothing is not taken for one that is full", () => {
    const facts = createMachineReader({ dataDir: join(directory, "missing"), clock, root: directory })();
    expect(facts).toMatchObject({ memory: { totalBytes: 0 }, disk: { totalBytes: 0 } });
  });
});
