import { gzipSync } from "node:zlib";
import { BATCH_MAX_BYTES, ProbeConfiguration } from "@lanthorn/contract";
import { createId, seededRandom, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProbeAddress } from "../broker/broker.ts";
import { refuseHostname, refuseWrites } from "../testing/database.ts";
import { createIngestBench, hostState, type IngestBench } from "./testing/bench.ts";

let bench: IngestBench;
let probe: ProbeAddress;
let queueId = "";
beforeEach(async () => {
  bench = await createIngestBench();
  probe = await bench.addProbe();
  queueId = createId();
});
afterEach(() => bench.close());

const AT = "2026-11-20T11:00:00.000Z";
const note = (text: string) => ({ type: "error", occurred_at: AT, data: { code: "note", message: text } }) as const;
const notes = async () => (await bench.database.db.selectFrom("events").select(["data", "type"]).where("type", "=", "error").orderBy("seq")
  .execute())
  .map((row) => (JSON.parse(row.data) as { message: string }).message);
const refused = async (probeId = probe.probeId) => {
  await bench.clock.advance(1000);
  return JSON.parse((await bench.database.db.selectFrom("probes").select("refused").where("id", "=", probeId)
    .executeTakeFirstOrThrow()).refused) as Record<string, number>;
};

describe("a batch", () => {
  test("is committed, acknowledged with its times, and published to the live stream; once each", async () => {
    const ack = await bench.sendBatch(probe, queueId, 0, [note("a"), note("b")]);
    expect(ack).toEqual({
      v: 1, queue_id: queueId, watermark: 2, refused: null, batch_sent_at: toInstant(bench.clock.now()),
      received_at: toInstant(bench.clock.now()), sent_at: toInstant(bench.clock.now()),
    });
    expect(bench.published).toEqual([1]);
    expect(
      await bench.database.db.selectFrom("events").select(["seq", "probe_id", "queue_id", "probe_seq", "occurred_at", "received_at"])
        .execute(),
    ).toEqual([1, 2].map((seq) => (
      { seq, probe_id: probe.probeId, queue_id: queueId, probe_seq: seq, occurred_at: AT, received_at: toInstant(bench.clock.now()) })));
  });

  test("may be gzip", async () => {
    const body = { v: 1, queue_id: queueId, after: 0, sent_at: AT, events: [{ seq: 1, ...note("zipped") }] };
    await bench.send(probe, "events", gzipSync(JSON.stringify(body)));
    expect(await notes()).toEqual(["zipped"]);
  });

  test("that comes again, whole or in part, adds nothing that is here already", async () => {
    await bench.sendBatch(probe, queueId, 0, [note("a"), note("b")]);
    expect(await bench.sendBatch(probe, queueId, 0, [note("a"), note("b")])).toMatchObject({ watermark: 2, refused: null });
    expect(await bench.sendBatch(probe, queueId, 1, [note("b"), note("c")])).toMatchObject({ watermark: 3, refused: null });
    expect(await notes()).toEqual(["a", "b", "c"]);
  });

  test("that was committed when the acknowledgement was lost in a crash is dropped when it is sent again", async () => {
    await bench.sendBatch(probe, queueId, 0, [note("a")]);
    await bench.restart();
    expect(await bench.sendBatch(probe, queueId, 0, [note("a"), note("b")])).toMatchObject({ watermark: 2 });
    expect(await notes()).toEqual(["a", "b"]);
  });

  test("behind a gap is refused with the watermark to go back to; reordered ones end up in order", async () => {
    expect(
      await bench.sendBatch(probe, queueId, 2, [note("c")]),
    ).toMatchObject({ watermark: 0, queue_id: queueId, refused: { code: "gap" } });
    await bench.sendBatch(probe, queueId, 0, [note("a"), note("b")]);
    await bench.sendBatch(probe, queueId, 2, [note("c")]);
    await bench.sendBatch(probe, queueId, 0, [note("a")]);
    expect(await notes()).toEqual(["a", "b", "c"]);
    expect(await refused()).toEqual({ gap: 1 });
  });

  test("may have holes inside, where the probe's disk budget took events", async () => {
    expect(await bench.sendBatch(probe, queueId, 0, [note("x")], 40)).toMatchObject({ watermark: 40, refused: null });
    expect(await bench.sendBatch(probe, queueId, 40, [note("y")])).toMatchObject({ watermark: 41 });
  });

  test("of a new queue begins at one again, and the old one's watermark stays", async () => {
    await bench.sendBatch(probe, queueId, 0, [note("old"), note("old 2")]);
    expect(await bench.sendBatch(probe, createId(), 0, [note("new")])).toMatchObject({ watermark: 1, refused: null });
    expect(await bench.sendBatch(probe, queueId, 2, [note("old 3")])).toMatchObject({ watermark: 3 });
    expect(await notes()).toEqual(["old", "old 2", "new", "old 3"]);
  });

  test("of the same probe waits for the one before it; probes do not wait for each other", async () => {
    const other = await bench.addProbe();
    const otherQueue = createId();
    await Promise.all([
      ...Array.from({ length: 20 }, (_, index) => bench.sendBatch(probe, queueId, index, [note(`a${index}`)])),
      ...Array.from({ length: 20 }, (_, index) => bench.sendBatch(other, otherQueue, index, [note(`b${index}`)])),
    ]);
    expect((await notes()).filter((text) => text.startsWith("a"))).toEqual(Array.from({ length: 20 }, (_, index) => `a${index}`));
    expect((await notes()).filter((text) => text.startsWith("b"))).toEqual(Array.from({ length: 20 }, (_, index) => `b${index}`));
    expect(await refused()).toEqual({});
  });

  test("with an event that cannot be read keeps it aside as it came, and goes on", async () => {
    const strange = { type: "host_found", occurred_at: AT, data: { ip: "not an address" } };
    const unknown = { type: "from_the_future", occurred_at: AT, data: { x: 1 } };
    const mine = { type: "probe_silent", occurred_at: AT, data: {} };
    expect(
      await bench.sendBatch(probe, queueId, 0, [note("a"), strange, unknown, mine, note("b")]),
    ).toMatchObject({ watermark: 5, refused: null });
    expect(await notes()).toEqual(["a", "b"]);
    const kept = await bench.database.db.selectFrom("rejected_events").select(["probe_seq", "payload"]).orderBy("probe_seq").execute();
    expect(kept.map((row) => [row.probe_seq, JSON.parse(row.payload)])).toEqual(
      [strange, unknown, mine].map((event, index) => [index + 2, { seq: index + 2, ...event }]),
    );
    expect(await refused()).toEqual({ "unreadable-event": 3 });
  });

  test("with an event that the database does not take sets that one aside and commits the rest", async () => {
    await refuseHostname(bench.database, "poison");
    const host = (n: number, hostname: string) => ({
      type: "host_found", occurred_at: AT, data: hostState({ ip: `192.0.2.${n}`, mac: `02:00:00:00:00:0${n}`, hostname }, AT),
    }) as const;
    expect(
      await bench.sendBatch(probe, queueId, 0, [host(1, "one"), host(2, "poison"), host(3, "three")]),
    ).toMatchObject({ watermark: 3, refused: null });
    expect(
      await bench.database.db.selectFrom("devices").select("hostname").orderBy("hostname").execute(),
    ).toEqual([{ hostname: "one" }, { hostname: "three" }]);
    expect(await bench.database.db.selectFrom("rejected_events").select("probe_seq").execute()).toEqual([{ probe_seq: 2 }]);
    expect(
      (await bench.database.db.selectFrom("events").select("probe_seq").orderBy("seq").execute()).map((row) => row.probe_seq),
    ).toEqual([1, 3]);
    expect(bench.published).toEqual([1]);
  });

  test("is not acknowledged while the database cannot be written, and health says so until it can", async () => {
    const allow = await refuseWrites(bench.database);
    expect(await bench.sendBatch(probe, queueId, 0, [note("a")])).toBeUndefined();
    expect(bench.ingest.health()).toMatchObject({ status: "degraded" });
    await allow();
    expect(await bench.sendBatch(probe, queueId, 0, [note("a")])).toMatchObject({ watermark: 1 });
    expect(bench.ingest.health()).toMatchObject({ status: "ok" });
    expect(await notes()).toEqual(["a"]);
  });
});

describe("what is no batch", () => {
  test.each([
    ["nothing", Buffer.alloc(0)],
    ["no JSON", Buffer.from("{")],
    [
      "another version",
      { v: 2, queue_id: "0190a000-0000-7000-8000-000000000000", after: 0, sent_at: AT, events: [{ seq: 1, ...note("x") }] },
    ],
    ["no events", { v: 1, queue_id: "0190a000-0000-7000-8000-000000000000", after: 0, sent_at: AT, events: [] }],
    [
      "501 events",
      {
        v: 1, queue_id: "0190a000-0000-7000-8000-000000000000", after: 0, sent_at: AT,
        events: Array.from({ length: 501 }, (_, index) => ({ seq: index + 1, ...note("x") })),
      },
    ],
    [
      "a sequence that does not rise",
      {
        v: 1, queue_id: "0190a000-0000-7000-8000-000000000000", after: 0, sent_at: AT,
        events: [{ seq: 2, ...note("x") }, { seq: 2, ...note("y") }],
      },
    ],
    [
      "a sequence at or before what it follows",
      { v: 1, queue_id: "0190a000-0000-7000-8000-000000000000", after: 5, sent_at: AT, events: [{ seq: 5, ...note("x") }] },
    ],
    ["broken gzip", gzipSync("{}").subarray(0, 12)],
  ])("%s: is refused, answered and counted, and the next one is taken", async (_, body) => {
    await bench.send(probe, "events", body);
    expect(bench.acks.at(-1)?.ack).toMatchObject({ queue_id: null, batch_sent_at: null, refused: { code: "not-a-batch" } });
    expect(await refused()).toEqual({ "not-a-batch": 1 });
    expect(await bench.sendBatch(probe, queueId, 0, [note("a")])).toMatchObject({ watermark: 1, refused: null });
  });

  test("a small payload that would become a large one is refused before it does", async () => {
    await bench.send(probe, "events", gzipSync(Buffer.alloc(BATCH_MAX_BYTES * 50, 0x20)));
    expect(bench.acks.at(-1)?.ack).toMatchObject({ refused: { code: "too-large" } });
    expect(await refused()).toEqual({ "too-large": 1 });
  });

  test("data nested two hundred thousand deep is set aside", async () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    await bench.send(
      probe, "events",
      gzipSync(
        `{"v":1,"queue_id":"${queueId}","after":0,"sent_at":"${AT}","events":[{"seq":1,"type":"x","occurred_at":"${AT}","data":${deep}}]}`,
      ),
    );
    expect(bench.acks.at(-1)?.ack.refused?.code ?? bench.acks.at(-1)?.ack.watermark).toBe(1);
    expect((await bench.database.db.selectFrom("rejected_events").selectAll().execute()).length).toBe(1);
  });

  test("5,000 seeded mutations of a batch: each is answered, nothing throws, and the order holds", async () => {
    const random = seededRandom(11);
    const seed = Buffer.from(JSON.stringify({
      v: 1, queue_id: queueId, after: 0, sent_at: AT,
      events: [
        { seq: 1, ...note("a") },
        { seq: 2, type: "host_found", occurred_at: AT, data: hostState({ ip: "192.0.2.1", mac: "02:00:00:00:00:01", hostname: "h" }, AT) },
      ],
    }));
    for (let round = 0; round < 5000; round += 1) {
      let bytes = Buffer.from(seed);
      for (let changes = 1 + random(4); changes > 0; changes -= 1) {
        bytes[random(bytes.length)] = random(4) === 0 ? random(256) : 0x20 + random(95);
      }
      if (random(10) === 0) bytes = bytes.subarray(0, random(bytes.length));
      if (random(4) === 0) {
        bytes = gzipSync(bytes, { level: 1 });
        if (random(2) === 0) bytes[random(bytes.length)] = random(256);
      }
      const before = bench.acks.length;
      await bench.send(probe, "events", bytes);
      expect(bench.acks.length).toBe(before + 1);
    }
    expect(bench.ingest.health().status).toBe("ok");
    const order = await bench.database.db.selectFrom("events").select(["queue_id", "probe_seq"]).where("queue_id", "=", queueId)
      .orderBy("seq").execute();
    const seqs = order.map((row) => row.probe_seq ?? 0);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
  });
});

describe("other channels", () => {
  test("health is kept, and what is none is counted", async () => {
    const health = {
      v: 1, at: AT, version: "1.2.3", uptime_seconds: 1, cpu_percent: 1, load_1m: 1,
      memory: { rss_bytes: 1, available_bytes: 1, total_bytes: 1 }, disk: { free_bytes: 1, total_bytes: 1 },
      temperature_celsius: null, capture: { frames: 1, dropped: 0 }, queue: { events: 0, bytes: 0, oldest_at: null, dropped: 0 },
      clock_offset_ms: null,
      interface: { name: "lan0", up: true }, hosts: { online: 1, known: 1 },
    };
    await bench.send(probe, "health", health);
    await bench.send(probe, "health", { ...health, memory: null });
    await bench.send(probe, "status", "x");
    await bench.send(probe, "replies", {});
    const row = await bench.database.db.selectFrom("probes").select(["health", "version"]).where("id", "=", probe.probeId)
      .executeTakeFirstOrThrow();
    expect([JSON.parse(row.health ?? ""), row.version]).toEqual([health, "1.2.3"]);
    expect(await refused()).toEqual({ "not-a-health": 1, "not-a-status": 1, "not-a-reply": 1 });
  });

  test("a probe that says it is online is sent its configuration, to be kept", async () => {
    await bench.send(probe, "status", { v: 1, state: "online", version: "1.0.0", run_id: createId(), at: AT });
    const sent = bench.configurations[0];
    expect(sent).toMatchObject({ probeId: probe.probeId, retain: true });
    expect(
      ProbeConfiguration.parse(JSON.parse(sent?.text ?? "")),
    ).toMatchObject({ revision: 0, site_name: "site", sweep: { enabled: true } });
  });

  test("a probe that was online before the collector is asked to resend what nobody received", async () => {
    await bench.send(probe, "status", { v: 1, state: "online", version: "1.0.0", run_id: createId(), at: AT }, true);
    expect(bench.acks).toMatchObject([{ ack: { queue_id: null, batch_sent_at: null, refused: { code: "not-ready" } } }]);
    expect(bench.configurations).toEqual([]);
  });

  test("a payload that the broker refused as too large is answered, so that the probe can make it smaller", async () => {
    bench.ingest.refused(probe, "too-large", "events");
    bench.ingest.refused(probe, "wrong-topic", null);
    expect(bench.acks.map(({ ack }) => ack.refused?.code)).toEqual(["too-large"]);
    expect(await refused()).toEqual({ "too-large": 1, "wrong-topic": 1 });
  });

  test("a probe that is revoked, unknown or of another tenant is not listened to", async () => {
    await bench.database.db.updateTable("probes").set({ revoked_at: AT }).where("id", "=", probe.probeId).execute();
    const stranger = { tenantId: bench.tenantId, probeId: createId() };
    const other = { tenantId: createId(), probeId: (await bench.addProbe()).probeId };
    for (const one of [probe, stranger, other]) await bench.sendBatch(one, queueId, 0, [note("x")]);
    expect(bench.acks).toEqual([]);
    expect(await notes()).toEqual([]);
  });
});

test("what was refused just before the end is counted all the same, and nothing is taken after it", async () => {
  bench.ingest.refused(probe, "wrong-topic", null);
  await bench.ingest.close();
  await bench.sendBatch(probe, queueId, 0, [note("late")]);
  expect(await notes()).toEqual([]);
  expect(
    await bench.database.db.selectFrom("probes").select("refused").execute(),
  ).toEqual([{ refused: JSON.stringify({ "wrong-topic": 1 }) }]);
});

describe("what an outage kept back", () => {
  const rogue = (occurredAt: string) => ({
    type: "rogue_detected", occurred_at: occurredAt,
    data: {
      kind: "dhcp_server", severity: "high", ip: "192.0.2.66", mac: "02:00:00:00:00:66", expected_macs: [], vlan_id: null, detail: "",
      packets: [],
    },
  }) as const;
  const published = async (of: IngestBench) =>
    (await of.database.db.selectFrom("events").select("type").where("type", "=", "alert_created").execute()).length;
  let alerting: IngestBench;
  beforeEach(async () => {
    alerting = await createIngestBench({ alerts: true });
    probe = await alerting.addProbe();
  });
  afterEach(() => alerting.close());
  const sendAt = (probeNow: string, occurredAt: string) =>
    alerting.send(probe, "events", { v: 1, queue_id: queueId, after: 0, sent_at: probeNow, events: [{ seq: 1, ...rogue(occurredAt) }] });

  test("raises its alert and pages nobody", async () => {
    await sendAt("2026-11-20T12:00:00.000Z", "2026-11-20T11:49:00.000Z");
    expect(await alerting.database.db.selectFrom("alerts").select(["status", "notified", "first_seen"]).execute()).toEqual([
      { status: "open", notified: 0, first_seen: "2026-11-20T11:49:00.000Z" },
    ]);
    expect(await published(alerting)).toBe(0);
  });

  test("is distinguished from live events by the probe's own clock, however far that is off", async () => {
    await sendAt("2025-01-01T00:00:00.000Z", "2024-12-31T23:59:00.000Z");
    expect(await published(alerting)).toBe(1);
  });
});
