import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { PAYLOAD_MAX_BYTES, ProbeStatus, Reply, type ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, createId, silentLog, systemClock, toInstant } from "@lanthorn/runtime";
import { constantFrom, json, nat, oneof, sample, tuple, uint8Array } from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { captureHandlers } from "../daemon/capture-handlers.ts";
import { openProbeDatabase, type ProbeDatabase } from "../queue/database.ts";
import { createOutbox, type Outbox } from "../queue/outbox.ts";
import { startTestCollector, type TestCollector } from "./testing/collector.ts";
import type { CommandHandlers } from "./commands.ts";
import { createUplink, type Uplink } from "./uplink.ts";

const identity = { tenantId: createId(), probeId: createId() };
/** Waits a hundredth as long, so that timeouts come while a test can wait for them. */
const hastyClock: Clock = { ...systemClock, after: (ms, task) => systemClock.after(ms / 100, task) };
/** Pauses a hundredth as long, and gives an answer all its time: on a busy machine it takes longer than a hundredth. */
const patientClock: Clock = { ...systemClock, after: (ms, task) => systemClock.after(ms < 15_000 ? ms / 100 : ms, task) };

let directory: string;
let database: ProbeDatabase;
let collector: TestCollector;
let outbox: Outbox;
let uplink: Uplink | undefined;
let configurations: Uint8Array[];
let sweeps: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-uplink-"));
  collector = await startTestCollector(identity);
  database = openProbeDatabase(join(directory, "probe.db"), { clock: systemClock, log: silentLog });
  outbox = createOutbox({ db: database.db, clock: systemClock, log: silentLog, budgetBytes: 1e9, onAppended: () => uplink?.wake() });
  configurations = [];
  sweeps = 0;
});
afterEach(async () => {
  await uplink?.close();
  uplink = undefined;
  outbox.close();
  database.close();
  await collector.close();
  rmSync(directory, { recursive: true, force: true });
});

function start(options: { readonly clock?: Clock; readonly url?: string; readonly sweep?: CommandHandlers["sweep"] } = {}): Uplink {
  uplink = createUplink({
    outbox, identity,
    credentials: () => ({
      url: options.url ?? `mqtt://127.0.0.1:${collector.port}`, clientId: identity.probeId, ca: "", certificate: "", key: "",
    }),
    version: "1.2.3",
    handlers: {
      sweep: options.sweep ?? (async () => {
        sweeps += 1;
        return { data: { answered: 4 } };
      }),
      scan_start: ({ profile }) => Promise.resolve(profile === "full" ? { refused: "no engine" } : { data: { hosts_total: 254 } }),
      scan_cancel: () => Promise.resolve({ data: { running: false } }),
      guards_learn: () => Promise.resolve({ data: {} }),
      decoy_test: () => Promise.resolve({ data: {} }),
      ...captureHandlers(null),
    },
    onConfiguration: (payload) => configurations.push(payload),
    onConnected: () => undefined,
    clock: options.clock ?? patientClock, random: () => 0.5, log: silentLog,
  });
  return uplink;
}

const note = (message: string): ProbeEvent => ({ type: "error", occurred_at: toInstant(Date.now()), data: { code: "test", message } });
const fill = (count: number, from = 0) => {
  for (let n = from; n < from + count; n += 100) {
    outbox.append(Array.from({ length: Math.min(100, from + count - n) }, (_, k) => note(`${n + k}`)));
  }
};
const seqs = () => collector.events.map((event) => event.seq);
const upTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1);
const statuses = () =>
  collector.received.filter(({ channel }) => channel === "status").map(({ payload }) => ProbeStatus.parse(JSON.parse(payload.toString())));
const replies = () =>
  collector.received.filter(({ channel }) => channel === "replies").map(({ payload }) => Reply.parse(JSON.parse(payload.toString())));

describe("the uplink", () => {
  test("brings a backlog over in order, in batches of at most 500, one in flight, and empties the queue", async () => {
    fill(2300);
    start();
    await collector.until(() => uplink?.drained() === true);
    expect(seqs()).toEqual(upTo(2300));
    expect(collector.batches.map((batch) => batch.events.length)).toEqual([500, 500, 500, 500, 300]);
    expect(collector.overtaken).toBe(0);
    expect(outbox.state()).toMatchObject({ events: 0, after: 2300 });
  });

  test("sends what is appended while it is connected", async () => {
    start();
    await collector.until(() => statuses().some(({ state }) => state === "online"));
    fill(1);
    await collector.until(() => collector.events.length === 1);
    fill(1, 1);
    await collector.until(() => uplink?.drained() === true);
    expect(collector.batches[1]).toMatchObject({ after: 1, events: [{ seq: 2 }] });
  });

  test("compresses, below what a collector reads", async () => {
    outbox.append(Array.from({ length: 500 }, (_, n) => note(`${n} ${"the same words again ".repeat(40)}`)));
    start();
    await collector.until(() => uplink?.drained() === true);
    const payload = collector.received.find(({ channel }) => channel === "events")?.payload ?? Buffer.alloc(0);
    expect(payload.length).toBeLessThan(PAYLOAD_MAX_BYTES / 20);
    expect(gunzipSync(payload).length).toBeGreaterThan(400_000);
  });

  test("sends again when no acknowledgement comes, and the collector has nothing twice", async () => {
    collector.mode = "mute";
    fill(10);
    start({ clock: hastyClock });
    await collector.until(() => collector.batches.length === 2);
    collector.mode = "acknowledge";
    await collector.until(() => uplink?.drained() === true);
    expect(seqs()).toEqual(upTo(10));
  });

  test("sends again after a lost connection what was on its way", async () => {
    collector.mode = "deaf";
    fill(700);
    start();
    await collector.until(() => collector.batches.length === 1);
    collector.cut();
    collector.mode = "acknowledge";
    await collector.until(() => uplink?.drained() === true);
    expect(seqs()).toEqual(upTo(700));
    expect(collector.batches[1]?.after).toBe(0);
  });

  test("takes repeated and late acknowledgements for what they are", async () => {
    collector.mode = "twice";
    fill(1200);
    start();
    await collector.until(() => uplink?.drained() === true);
    await collector.acknowledge({ watermark: 3 });
    await collector.acknowledge({ watermark: 500 });
    fill(1, 1200);
    await collector.until(() => collector.events.length === 1201);
    expect(seqs()).toEqual(upTo(1201));
    expect(collector.batches.at(-1)?.after).toBe(1200);
  });

  test("goes back when the collector lost its place, and says what is missing", async () => {
    fill(20);
    start();
    await collector.until(() => uplink?.drained() === true);
    collector.watermark = 5;
    fill(3, 20);
    await collector.until(() => uplink?.drained() === true && collector.watermark > 20);
    const gap = collector.events.find((event) => event.type === "queue_gap");
    expect(gap?.data).toMatchObject({ reason: "collector-behind", from_seq: 6, to_seq: 20, dropped: 15 });
    expect(seqs().slice(20)).toEqual([21, 22, 23, 24]);
  });

  test("lets go of the one event that a collector refuses, and brings over the others", async () => {
    fill(9);
    start();
    collector.mode = "deaf";
    const seen = new Set<number>();
    await collector.until(() => {
      const batch = collector.batches.at(-1);
      if (batch && !seen.has(collector.batches.length)) {
        seen.add(collector.batches.length);
        const poisoned = batch.events.some((event) => event.seq === 4);
        if (!poisoned) collector.watermark = Math.max(collector.watermark, batch.events.at(-1)?.seq ?? 0);
        void collector.acknowledge({ watermark: collector.watermark, refused: poisoned ? { code: "not-a-batch", message: "" } : null });
      }
      return uplink?.drained() === true;
    });
    const gap = collector.batches.flatMap((batch) => batch.events).find((event) => event.type === "queue_gap");
    expect(gap?.data).toMatchObject({ reason: "too-large", from_seq: 4, to_seq: 4, dropped: 1 });
  });

  test("splits a batch that does not fit, though each event does", async () => {
    // Random text does not compress: 500 such events are some 1.5 MB.
    const noise = createHash("shake256", { outputLength: 500 * 2048 }).update("seed").digest();
    outbox.append(Array.from({ length: 500 }, (_, n) => note(noise.toString("latin1", n * 2048, n * 2048 + 1000))));
    start();
    await collector.until(() => uplink?.drained() === true);
    expect(seqs()).toEqual(upTo(500));
    expect(Math.max(...collector.received.map(({ payload }) => payload.length))).toBeLessThanOrEqual(PAYLOAD_MAX_BYTES);
  });

  test("waits longer and longer for a broker that is not there, and finds it when it comes", async () => {
    const { port } = collector;
    await collector.close();
    fill(3);
    start();
    await collector.until(() => uplink?.state().problem?.includes("ECONNREFUSED") === true);
    expect(uplink?.state().connected).toBe(false);
    collector = await startTestCollector({ ...identity, port });
    await collector.until(() => uplink?.drained() === true);
    expect(seqs()).toEqual([1, 2, 3]);
  });

  test("says online with a new run, leaves a last will, and says stopped when it leaves", async () => {
    start();
    await collector.until(() => statuses().length === 1);
    collector.cut();
    await collector.until(() => statuses().length === 3);
    await uplink?.close();
    await collector.until(() => statuses().length === 4);
    expect(statuses().map(({ state }) => state)).toEqual(["online", "lost", "online", "stopped"]);
    expect(new Set(statuses().map(({ run_id }) => run_id)).size).toBe(1);
    expect(collector.received.filter(({ channel }) => channel === "status").every(({ retain }) => retain)).toBe(true);
  });

  test("learns how far the collector's clock is ahead", async () => {
    collector.clockAheadMs = 90_000;
    fill(1);
    start();
    await collector.until(() => uplink?.state().clockOffsetMs !== null);
    expect(Math.abs((uplink?.state().clockOffsetMs ?? 0) - 90_000)).toBeLessThan(250);
  });

  test("goes on under a new queue when the collector is ahead of a restored copy", async () => {
    collector.watermark = 1000;
    fill(3);
    start();
    await collector.until(() => collector.batches.length === 2);
    expect(collector.batches[1]?.queue_id).not.toBe(collector.batches[0]?.queue_id);
    expect(collector.batches[1]).toMatchObject({ after: 0 });
    await collector.until(() => uplink?.drained() === true);
    expect(collector.events).toHaveLength(3);
  });
});

describe("a command", () => {
  const command = (overrides: object = {}) => JSON.stringify({
    v: 1, id: createId(), type: "sweep", issued_at: toInstant(Date.now()), expires_at: toInstant(Date.now() + 60_000), data: {},
    ...overrides,
  });
  beforeEach(async () => {
    start();
    await collector.until(() => statuses().length === 1);
  });

  test("is carried out once and answered", async () => {
    const text = command();
    await collector.publish("commands", text);
    await collector.publish("commands", text);
    await collector.publish("commands", command());
    await collector.until(() => replies().length === 2);
    expect(replies()[0]).toMatchObject({ command_id: (JSON.parse(text) as { id: string }).id, ok: true, data: { answered: 4 } });
    expect(sweeps).toBe(2);
  });

  test("that came too late is not begun, by the collector's clock", async () => {
    await collector.publish("commands", command({ expires_at: toInstant(Date.now() - 1) }));
    await collector.until(() => replies().length === 1);
    expect(replies()[0]).toMatchObject({ ok: false, error: { code: "expired" } });
    expect(sweeps).toBe(0);
  });

  test.each([["no JSON", "{"], ["another version", command({ v: 2 })], [
    "an unknown type", command({ type: "format-disk" }),
  ], ["nothing", ""],
    ["a scan of nothing", command({ type: "scan_start" })], [
      "a scan whose id is none", command({ type: "scan_cancel", data: { scan_id: "../x" } }),
    ]])(
    "that is %s is answered as no command", async (_, text) => {
      await collector.publish("commands", text);
      await collector.until(() => replies().length === 1);
      expect(replies()[0]).toMatchObject({ ok: false, error: { code: "not-a-command" } });
    });

  test("to scan is answered with what it begins, or with why it does not", async () => {
    const scan = { scan_id: createId(), target: "10.0.0.0/24", profile: "gentle", excluded: [] };
    await collector.publish("commands", command({ type: "scan_start", data: scan }));
    await collector.publish("commands", command({ type: "scan_start", data: { ...scan, profile: "full" } }));
    await collector.publish("commands", command({ type: "scan_cancel", data: { scan_id: scan.scan_id } }));
    await collector.until(() => replies().length === 3);
    expect(replies()).toMatchObject([
      { ok: true, data: { hosts_total: 254 } }, { ok: false, error: { code: "refused", message: "no engine" } },
      { ok: true, data: { running: false } },
    ]);
  });

  test("that fails is answered with the reason", async () => {
    await uplink?.close();
    start({ sweep: () => Promise.reject(new Error("the interface is down")) });
    await collector.until(() => statuses().length >= 3);
    await collector.publish("commands", command());
    await collector.until(() => replies().length === 1);
    expect(replies()[0]).toMatchObject({ ok: false, error: { code: "failed", message: "the interface is down" } });
  });
});

describe("whatever the collector sends", () => {
  const valid = [
    { v: 1, queue_id: createId(), watermark: 3, refused: null, batch_sent_at: null, received_at: toInstant(0), sent_at: toInstant(0) },
    { v: 1, id: createId(), type: "sweep", issued_at: toInstant(0), expires_at: toInstant(0), data: {} },
    { v: 1, revision: 1, site_name: "s", sweep: { enabled: true, interval_seconds: 60, packets_per_second: 1 }, excluded: [] },
  ].map((value) => JSON.stringify(value));
  const mutated = tuple(constantFrom(...valid), nat(), nat(255), constantFrom("replace", "cut", "repeat")).map(([text, at, byte, how]) => {
    const bytes = Buffer.from(text);
    const place = at % bytes.length;
    if (how === "cut") return bytes.subarray(0, place);
    if (how === "repeat") return Buffer.concat([bytes.subarray(0, place), bytes]);
    bytes[place] = byte;
    return bytes;
  });
  const payload = oneof(mutated, uint8Array({ maxLength: 200 }), json().map((text) => Buffer.from(text)));

  test("the session goes on and nothing is lost", async () => {
    start();
    await collector.until(() => statuses().length === 1);
    const messages = sample(tuple(constantFrom("acks", "commands", "config"), payload), { seed: 20_261_120, numRuns: 3000 });
    for (const [index, [channel, bytes]] of messages.entries()) {
      await collector.publish(channel, bytes);
      if (index % 300 === 0) fill(1, index);
    }
    await collector.until(() => uplink?.drained() === true);
    expect(seqs()).toEqual(upTo(10));
    expect(statuses()).toHaveLength(1);
    expect(configurations.length).toBeGreaterThan(500);
  });
});
