import type { ProbeEvent } from "@lanthorn/contract";
import { createFakeClock, createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProbeAddress } from "../broker/broker.ts";
import { correctInstant, createProbeClocks } from "./probe-clock.ts";
import { createIngestBench, hostState, type IngestBench } from "./testing/bench.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;

describe("the offset of a probe's clock", () => {
  const clocks = () => {
    const clock = createFakeClock(NOW);
    const made = createProbeClocks({ clock });
    const measure = (aheadMs: number, kept: number | null = null) =>
      made.measure({ probeId: "p", clockOffsetMs: kept }, toInstant(clock.now() - aheadMs), toInstant(clock.now()));
    return { clock, made, measure };
  };

  test("is the least of the last measurements, which has least of the way in it, and nothing where it is small", async () => {
    const { measure } = clocks();
    expect([measure(30_000), measure(9000), measure(20_000), measure(1500)]).toEqual([30_000, 9000, 9000, 0]);
  });

  test("follows a clock that is set, either way", () => {
    const { measure } = clocks();
    expect([measure(0), measure(HOUR_MS), measure(HOUR_MS + 5000), measure(-HOUR_MS)]).toEqual([0, HOUR_MS, HOUR_MS, -HOUR_MS]);
  });

  test("begins with what was kept before a restart, and forgets what is old", async () => {
    const { clock, measure } = clocks();
    expect([measure(HOUR_MS + 20_000, HOUR_MS)]).toEqual([HOUR_MS]);
    await clock.advance(16 * 60_000);
    expect(measure(HOUR_MS + 20_000)).toBe(HOUR_MS + 20_000);
  });

  test("makes no instant later than it was received, nor one that has another spelling", () => {
    const receivedAt = toInstant(NOW);
    for (const at of ["9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z", "2026-11-20T11:00:00.000Z"]) {
      for (const offsetMs of [0, HOUR_MS, -HOUR_MS, 8e13, -8e13]) {
        const corrected = correctInstant(at, { offsetMs, receivedAt });
        expect(corrected).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(corrected <= receivedAt).toBe(true);
      }
    }
  });
});

describe("a probe whose clock is wrong, or lies", () => {
  let bench: IngestBench;
  let liar: ProbeAddress;
  let honest: ProbeAddress;
  beforeEach(async () => {
    bench = await createIngestBench({ alerts: true });
    liar = await bench.addProbe();
    honest = await bench.addProbe();
  });
  afterEach(() => bench.close());

  const queues = new Map<string, { readonly id: string; after: number }>();
  const send = async (probe: ProbeAddress, sentAt: string, events: readonly ProbeEvent[]) => {
    const queue = queues.get(probe.probeId) ?? { id: createId(), after: 0 };
    queues.set(probe.probeId, queue);
    await bench.send(probe, "events", {
      v: 1, queue_id: queue.id, after: queue.after, sent_at: sentAt,
      events: events.map((event, index) => ({ seq: queue.after + 1 + index, ...event })),
    });
    queue.after += events.length;
    expect(bench.acks.at(-1)?.ack).toMatchObject({ watermark: queue.after, refused: null });
  };
  const now = () => toInstant(bench.clock.now());
  const host = (at: string, hostname: string, extra: ProbeEvent["type"] = "host_found") => ({
    type: extra, occurred_at: at,
    data: {
      ...hostState({ ip: "192.0.2.1", mac: "00:1b:21:00:00:01", hostname }, at), ...(extra === "host_changed" ? { changed: ["evidence"] } : {}),
      evidence: [{
        field: "device_type", value: hostname === "lie" ? "camera" : "printer", source: "mdns:_ipp._tcp", confidence: 0.9, seen_at: at,
      }],
    },
  }) as unknown as ProbeEvent;
  const hit = (index: number, at: string): ProbeEvent => ({
    type: "honeypot_hit", occurred_at: at,
    data: {
      service: "ssh", stage: "touch", severity: "high", source_ip: `192.0.2.${1 + (index % 250)}`, source_port: 1, destination_port: 22,
      source_mac: `02:00:00:00:${(index >> 8).toString(16).padStart(2, "0")}:${(index & 255).toString(16).padStart(2, "0")}`,
      username: "", detail: "x",
    },
  });
  const published = async () => (await bench.database.db.selectFrom("events").select("data").where("type", "=", "alert_created").execute())
    .map(({ data }) => (JSON.parse(data) as { type: string }).type);

  test("is believed by nobody in the year 9999: nothing of it is newer than when it came, and what is seen later wins", async () => {
    const future = "9999-12-31T00:00:00.000Z";
    await send(liar, now(), [host(future, "lie"), { type: "port_found", occurred_at: future, data: {
      ip: "192.0.2.1", mac: "00:1b:21:00:00:01", port: 22, protocol: "tcp", state: "open", service: "ssh", version: "", banner: "", scan_id: null,
    } }, { type: "presence_report", occurred_at: future, data: {
      hosts: [{ ip: "192.0.2.1", mac: "00:1b:21:00:00:01", last_seen_at: future, presence_state: "online" }],
    } }]);
    const came = now();
    const { db } = bench.database;
    expect(await db.selectFrom("devices").select(["first_seen", "last_seen"]).execute()).toEqual([{ first_seen: came, last_seen: came }]);
    expect(await db.selectFrom("evidence").select("seen_at").execute()).toEqual([{ seen_at: came }]);
    expect(await db.selectFrom("ports").select("last_scanned").execute()).toEqual([{ last_scanned: came }]);
    expect(await db.selectFrom("addresses").select(["first_seen", "last_seen"]).execute()).toEqual([{ first_seen: came, last_seen: came }]);
    // What it said stays in the log.
    expect(await db.selectFrom("events").select("occurred_at").where("type", "=", "host_found").execute())
      .toEqual([{ occurred_at: future }]);
    await bench.clock.advance(60_000);
    await send(honest, now(), [host(now(), "truth", "host_changed")]);
    expect(await db.selectFrom("evidence").select(["value", "seen_at"]).orderBy("seen_at", "desc").limit(1).execute())
      .toEqual([{ value: "printer", seen_at: now() }]);
  });

  test("that is an hour behind, without malice, tells when things were by our clock, and nothing of it is late", async () => {
    const behind = (ms: number) => toInstant(bench.clock.now() - HOUR_MS - ms);
    await send(liar, behind(0), [host(behind(5000), "slow"), hit(1, behind(4000))]);
    expect(await bench.database.db.selectFrom("devices").select("last_seen").execute())
      .toEqual([{ last_seen: toInstant(bench.clock.now() - 5000) }]);
    expect(await published()).toEqual(["honeypot_hit"]);
  });

  test("tells nobody of 200 hits as 200 alerts, whatever it says of when they were", async () => {
    const spread = (from: number) => Array.from({ length: 200 }, (_, index) => hit(index, toInstant(from + index * HOUR_MS)));
    // Sent, as it says, before all of them; then as late ones, and once more as live ones.
    await send(liar, "2020-01-01T00:00:00.000Z", spread(Date.UTC(2020, 0, 1)));
    expect((await published()).filter((type) => type === "honeypot_hit").length).toBeLessThanOrEqual(20);
    await send(honest, now(), spread(bench.clock.now() - 300 * HOUR_MS).map((event, index) => hit(1000 + index, event.occurred_at)));
    await send(honest, now(), Array.from({ length: 200 }, (_, index) => hit(1000 + index, now())));
    const types = await published();
    expect(types.filter((type) => type === "honeypot_hit").length).toBeLessThanOrEqual(20);
    expect(types.filter((type) => type === "alert_storm").length).toBe(1);
    const rows = await bench.database.db.selectFrom("events").select("id").where("type", "=", "honeypot_hit").execute();
    expect(rows.length).toBe(600);
  });

  test("keeps its offset over a restart of the collector", async () => {
    const ahead = () => toInstant(bench.clock.now() + HOUR_MS);
    await send(liar, ahead(), [host(ahead(), "fast")]);
    await bench.send(liar, "health", {
      v: 1, at: ahead(), version: "1.2.3", uptime_seconds: 1, cpu_percent: 1, load_1m: 1,
      memory: { rss_bytes: 1, available_bytes: 1, total_bytes: 1 }, disk: { free_bytes: 1, total_bytes: 1 },
      temperature_celsius: null, capture: { frames: 1, dropped: 0 }, queue: { events: 0, bytes: 0, oldest_at: null, dropped: 0 },
      clock_offset_ms: null, interface: { name: "lan0", up: true }, hosts: { online: 1, known: 1 },
    });
    expect(await bench.database.db.selectFrom("probes").select("clock_offset_ms").where("id", "=", liar.probeId).execute())
      .toEqual([{ clock_offset_ms: -HOUR_MS }]);
    await bench.restart();
    await bench.clock.advance(60_000);
    // On its way for 20 s: by this batch alone, what it saw 30 s ago would have been seen 10 s ago.
    await send(liar, toInstant(bench.clock.now() + HOUR_MS - 20_000), [host(toInstant(bench.clock.now() + HOUR_MS - 30_000), "fast")]);
    expect(await bench.database.db.selectFrom("devices").select("last_seen").execute())
      .toEqual([{ last_seen: toInstant(bench.clock.now() - 30_000) }]);
  });
});
