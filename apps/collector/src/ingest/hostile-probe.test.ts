import { gzipSync } from "node:zlib";
import { createId, silentLog, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProbeAddress } from "../broker/broker.ts";
import { createRecordRetention } from "../retention/records.ts";
import { createIngestBench, type IngestBench } from "./testing/bench.ts";
import { addForeign, type Foreign } from "./testing/foreign.ts";

let bench: IngestBench;
let hostile: ProbeAddress;
let honest: ProbeAddress;
/** Another tenant, which is looked at after each attack. */
let foreign: Foreign;
const open = async (options: Parameters<typeof createIngestBench>[0] = {}) => {
  bench = await createIngestBench({ silentAfterSeconds: 86_400, ...options });
  hostile = await bench.addProbe();
  honest = await bench.addProbe();
  foreign = await addForeign(bench);
};
beforeEach(() => open());
afterEach(async () => {
  const { isUnharmed, sent, acknowledged, logged } = await foreign.outcome();
  await bench.close();
  expect({ isUnharmed, acknowledged, logged }).toEqual({ isUnharmed: true, acknowledged: sent, logged: sent });
});

const note = (message = "x") => ({ type: "error", occurred_at: toInstant(bench.clock.now()), data: { code: "note", message } }) as const;
/** Without what the collector says of the probe itself. */
const countOf = async (table: "events" | "probe_queues" | "rejected_events", probeId: string) => (await bench.database.db
  .selectFrom(table).select((eb) => eb.fn.countAll<number>().as("n")).where("probe_id", "=", probeId).where("queue_id", "is not", null)
  .executeTakeFirstOrThrow()).n;
const refusedOf = async (probeId: string) => {
  await bench.clock.advance(1000);
  return JSON.parse((await bench.database.db.selectFrom("probes").select("refused").where("id", "=", probeId)
    .executeTakeFirstOrThrow()).refused) as Record<string, number>;
};

describe("a probe that names a new queue in every batch", () => {
  test("begins ten within an hour; the next is to come later, and its own queue and other probes go on", async () => {
    const own = createId();
    await bench.sendBatch(hostile, own, 0, [note()]);
    for (let index = 1; index < 10; index += 1) await bench.sendBatch(hostile, createId(), 0, [note()]);
    for (let index = 0; index < 20; index += 1) {
      expect(await bench.sendBatch(hostile, createId(), 0, [note()])).toMatchObject({ queue_id: null, refused: { code: "not-ready" } });
    }
    expect(await bench.sendBatch(hostile, own, 1, [note()])).toMatchObject({ watermark: 2, refused: null });
    expect(await bench.sendBatch(honest, createId(), 0, [note()])).toMatchObject({ watermark: 1, refused: null });
    expect([await countOf("probe_queues", hostile.probeId), await countOf("events", hostile.probeId)]).toEqual([10, 11]);
    expect(await refusedOf(hostile.probeId)).toEqual({ "queue-limit": 20 });
  });

  test("may begin another an hour later, from where it was: what was refused is then taken, once", async () => {
    for (let index = 0; index < 10; index += 1) await bench.sendBatch(hostile, createId(), 0, [note()]);
    const next = createId();
    await bench.sendBatch(hostile, next, 0, [note("kept")]);
    await bench.clock.advance(3_600_001);
    for (const _ of [1, 2]) {
      expect(await bench.sendBatch(hostile, next, 0, [note("kept")])).toMatchObject({ queue_id: next, watermark: 1, refused: null });
    }
    expect(await countOf("events", hostile.probeId)).toBe(11);
  });

  test("that has 20,000 from before costs nobody time, and they go while the queue in use stays exactly where it is", async () => {
    const own = createId();
    await bench.sendBatch(hostile, own, 0, [note()]);
    const old = (index: number) => ({
      probe_id: hostile.probeId, queue_id: createId(), tenant_id: bench.tenantId, watermark: 1,
      updated_at: toInstant(bench.clock.now() - 100_000 - index),
    });
    for (let at = 0; at < 20_000; at += 500) {
      await bench.database.db.insertInto("probe_queues").values(Array.from({ length: 500 }, (_, index) => old(at + index))).execute();
    }
    const { db, reads } = bench.database;
    const retention = createRecordRetention({ db, reads, clock: bench.clock, log: silentLog }, {
      audit: { keepDays: 100, keepRecords: 1000, keepAuthenticationDays: 1000 }, rejected: { keepDays: 100, keepBytes: 1e6 },
    });
    expect(await retention.run()).toBe(20_001 - 100);
    await retention.close();
    expect(await bench.sendBatch(hostile, own, 0, [note(), note()])).toMatchObject({ watermark: 2 });
    expect(await countOf("events", hostile.probeId)).toBe(2);
  });
});

describe("a probe that sends more than it may", () => {
  const large = (bytes: number) => note("y".repeat(bytes));
  const batchOf = (queue: string, after: number, bytes: number) =>
    bench.sendBatch(hostile, queue, after, Array.from({ length: bytes / 1000 }, () => large(900)));

  test("is held back until it may again, and nothing is lost; another probe is not", async () => {
    await bench.close();
    await open({ quota: { bytesPerMinute: 1e6, maxHoldMs: 10_000 } });
    const queue = createId();
    // Each costs 224 kB, of four minutes' 4 MB: by the eighteenth it is overdrawn.
    for (let round = 0; round < 18; round += 1) await batchOf(queue, round * 90, 90_000);
    const before = await countOf("events", hostile.probeId);
    expect(before).toBe(1620);
    const held = batchOf(queue, before, 90_000);
    expect(await bench.sendBatch(honest, createId(), 0, [note()])).toMatchObject({ watermark: 1 });
    expect(await countOf("events", hostile.probeId)).toBe(before);
    await bench.clock.advance(10_000);
    expect(await held).toMatchObject({ watermark: before + 90, refused: null });
  });

  test("gets `not-ready` where no probe may be held back, and its batch is taken later", async () => {
    await bench.close();
    await open({ quota: { bytesPerMinute: 1e6, maxHoldMs: 0 } });
    const queue = createId();
    const answers: (string | number | undefined)[] = [];
    let after = 0;
    for (let round = 0; round < 30; round += 1) {
      const ack = await batchOf(queue, after, 200_000);
      answers.push(ack?.refused?.code);
      if (!ack?.refused) after = ack?.watermark ?? 0;
    }
    expect(answers.filter((code) => code === "not-ready").length).toBeGreaterThan(15);
    expect(await countOf("events", hostile.probeId)).toBe(after);
    expect((await refusedOf(hostile.probeId))["quota"]).toBeGreaterThan(15);
    await bench.clock.advance(60_000);
    expect(await batchOf(queue, after, 200_000)).toMatchObject({ watermark: after + 200, refused: null });
  });

  test("cannot make megabytes of a few bytes: 59 kB on the wire store less than ten", async () => {
    const queue = createId();
    const events = Array.from({ length: 500 }, (_, index) => ({ seq: index + 1, ...note("z".repeat(1000)), code: "note" }));
    const body = JSON.stringify({ v: 1, queue_id: queue, after: 0, sent_at: toInstant(bench.clock.now()), events });
    const padded = gzipSync(body.replace('"events"', `"padding":"${" ".repeat(3_000_000)}","events"`), { level: 9 });
    expect(padded.length).toBeLessThan(7000);
    await bench.send(hostile, "events", padded);
    expect(bench.acks.at(-1)?.ack).toMatchObject({ refused: { code: "too-large" } });
    expect(await countOf("events", hostile.probeId)).toBe(0);
  });

  test("has at most 32 messages waiting: the next is not kept in memory", async () => {
    const queue = createId();
    const sent = Array.from({ length: 40 }, () => bench.sendBatch(hostile, queue, 0, [note()]));
    await Promise.all(sent);
    expect((await refusedOf(hostile.probeId))["quota"]).toBe(8);
    expect(await countOf("events", hostile.probeId)).toBe(1);
  });

  test("of health and replies is not listened to beyond 240 a minute, and its batches are", async () => {
    for (let round = 0; round < 300; round += 1) await bench.send(hostile, "replies", {});
    expect(await refusedOf(hostile.probeId)).toEqual({ "not-a-reply": 240, quota: 60 });
    expect(await bench.sendBatch(hostile, createId(), 0, [note()])).toMatchObject({ watermark: 1 });
  });
});
