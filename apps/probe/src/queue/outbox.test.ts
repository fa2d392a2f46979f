import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { createFakeClock, silentLog, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openProbeDatabase, type ProbeDatabase } from "./database.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

const EVERYTHING = { maxEvents: 500, maxBytes: 4 * 1024 * 1024 };
const clock = createFakeClock();
let directory: string;
let database: ProbeDatabase;
let appended: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-outbox-"));
  database = openProbeDatabase(join(directory, "probe.db"), { clock, log: silentLog });
  appended = 0;
});
afterEach(() => {
  database.close();
  rmSync(directory, { recursive: true, force: true });
});

function open(options: { readonly budgetBytes?: number } = {}): Outbox {
  return createOutbox({
    db: database.db, clock, log: silentLog, budgetBytes: options.budgetBytes ?? 512 * 1024 * 1024,
    onAppended: () => { appended += 1; }, quarantined: database.quarantined,
  });
}

function reopen(options: { readonly budgetBytes?: number } = {}): Outbox {
  database.close();
  database = openProbeDatabase(join(directory, "probe.db"), { clock, log: silentLog });
  return open(options);
}

const online = (n: number): ProbeEvent => ({
  type: "host_online", occurred_at: toInstant(clock.now()),
  data: { ip: `10.0.0.${n % 256}`, mac: "", last_seen_at: toInstant(clock.now()) },
});
const presenceReport = (n: number): ProbeEvent => ({
  type: "presence_report", occurred_at: toInstant(clock.now() + n),
  data: { hosts: [{ ip: `10.0.0.${n % 256}`, mac: "", last_seen_at: toInstant(clock.now()), presence_state: "online" }] },
});
const alert = (message: string): ProbeEvent => ({ type: "error", occurred_at: toInstant(clock.now()), data: { code: "test", message } });
const many = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
const parsed = (outbox: Outbox) =>
  outbox.take(EVERYTHING)?.events.map((event) => ({ ...event, data: JSON.parse(event.data) as Record<string, unknown> })) ?? [];

describe("the outbox", () => {
  test("gives events consecutive sequence numbers from 1, in the order in which they came", () => {
    const outbox = open();
    outbox.append([online(1), online(2)]);
    outbox.append([online(3)]);
    const batch = outbox.take(EVERYTHING);
    expect(batch?.after).toBe(0);
    expect(batch?.events.map((event) => [event.seq, (JSON.parse(event.data) as { ip: string }).ip])).toEqual([
      [1, "10.0.0.1"], [2, "10.0.0.2"], [3, "10.0.0.3"],
    ]);
  });

  test("forgets up to the watermark and goes on after it", () => {
    const outbox = open();
    outbox.append(many(5, online));
    const queueId = outbox.take(EVERYTHING)?.queueId ?? "";
    expect(outbox.acknowledge(queueId, 3)).toBe("taken");
    expect(outbox.take(EVERYTHING)).toMatchObject({ after: 3, events: [{ seq: 4 }, { seq: 5 }] });
    expect(outbox.acknowledge(queueId, 2)).toBe("taken");
    expect(outbox.state()).toMatchObject({ after: 3, events: 2 });
  });

  test("ignores an acknowledgement for another queue", () => {
    const outbox = open();
    outbox.append([online(1)]);
    expect(outbox.acknowledge("0190a4b0-0000-7000-8000-000000000000", 1)).toBe("other-queue");
    expect(outbox.state().events).toBe(1);
  });

  test("never gives a sequence out twice, not even after everything was forgotten and the daemon restarted", () => {
    let outbox = open();
    outbox.append(many(3, online));
    const { queueId } = outbox.state();
    outbox.acknowledge(queueId, 3);
    outbox = reopen();
    outbox.append([online(4)]);
    expect(outbox.take(EVERYTHING)).toMatchObject({ queueId, after: 3, events: [{ seq: 4 }] });
    expect(outbox.state().bytes).toBeGreaterThan(0);
  });

  test("leaves batches within the limits asked for", () => {
    const outbox = open();
    outbox.append(many(50, online));
    expect(outbox.take({ maxEvents: 7, maxBytes: 1e6 })?.events).toHaveLength(7);
    expect(outbox.take({ maxEvents: 500, maxBytes: 1000 })?.events.length).toBeLessThan(5);
  });
});

describe("an event appended inside a transaction", () => {
  test("is committed with the rest of it, and announced only then", async () => {
    const outbox = open();
    appended = 0;
    database.db.transaction(() => {
      outbox.append([online(1)]);
      expect(appended).toBe(0);
    })();
    await Promise.resolve();
    expect(appended).toBe(1);
    expect(outbox.state().events).toBe(1);
  });

  test("is rolled back with it, and its sequence goes to the next", async () => {
    const outbox = open();
    outbox.append([online(1)]);
    appended = 0;
    expect(() => database.db.transaction(() => {
      outbox.append([online(2)]);
      throw new Error("something else went wrong");
    })()).toThrow("something else");
    database.db.transaction(() => outbox.append([online(3)]))();
    await Promise.resolve();
    expect(appended).toBe(1);
    expect(parsed(outbox).map((event) => [event.seq, event.data["ip"]])).toEqual([[1, "10.0.0.1"], [2, "10.0.0.3"]]);
  });
});

describe("the disk budget", () => {
  test("takes presence reports first, then changes, and alerts last, and says so in one record", () => {
    const outbox = open({ budgetBytes: 60_000 });
    outbox.append(many(40, (n) => alert(`a${n}`)));
    outbox.append(many(100, presenceReport));
    outbox.append(many(300, online));
    const events = parsed(outbox);
    expect(events.filter((event) => event.type === "error")).toHaveLength(40);
    expect(events.filter((event) => event.type === "presence_report")).toHaveLength(0);
    const gaps = events.filter((event) => event.type === "queue_gap");
    expect(gaps).toHaveLength(1);
    const gone = 440 - events.length + gaps.length;
    expect(gaps[0]?.data).toMatchObject({
      code: "queue-gap", reason: "disk-budget", from_seq: 41, dropped: gone, since: toInstant(clock.now()),
    });
    expect(outbox.state()).toMatchObject({ dropped: gone });
    expect(outbox.state().bytes).toBeLessThanOrEqual(60_000);
  });

  test("goes on extending that record until it is being sent, then begins another", () => {
    const outbox = open({ budgetBytes: 20_000 });
    outbox.append(many(200, online));
    outbox.append(many(200, online));
    const first = parsed(outbox);
    const gap = first.find((event) => event.type === "queue_gap");
    outbox.append(many(200, online));
    outbox.acknowledge(outbox.state().queueId, first.at(-1)?.seq ?? 0);
    const gaps = parsed(outbox).filter((event) => event.type === "queue_gap");
    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.seq).not.toBe(gap?.seq);
  });

  test("leaves the batch that is on its way alone", () => {
    const outbox = open({ budgetBytes: 20_000 });
    outbox.append(many(50, presenceReport));
    const sent = outbox.take({ maxEvents: 20, maxBytes: 1e6 });
    outbox.append(many(400, online));
    const again = outbox.take({ maxEvents: 20, maxBytes: 1e6 });
    expect(again?.events).toEqual(sent?.events);
  });

  test("holds for the file: its size stays near the budget however much is written", () => {
    const outbox = open({ budgetBytes: 2 * 1024 * 1024 });
    for (let round = 0; round < 100; round += 1) outbox.append(many(500, online));
    const pages = Number(database.db.pragma("page_count", { simple: true }));
    expect(pages * 4096).toBeLessThan(2.6 * 1024 * 1024);
  });

  test("gives space back once the queue is empty", () => {
    const outbox = open();
    for (let round = 0; round < 100; round += 1) outbox.append(many(500, online));
    const before = Number(database.db.pragma("page_count", { simple: true }));
    outbox.acknowledge(outbox.state().queueId, outbox.state().lastSeq);
    outbox.tidy();
    expect(Number(database.db.pragma("page_count", { simple: true }))).toBeLessThan(before / 2);
  });
});

describe("a collector that lost its place", () => {
  test("gets what still exists, and a gap record for what does not", () => {
    const outbox = open();
    outbox.append(many(10, online));
    const { queueId } = outbox.state();
    outbox.acknowledge(queueId, 6);
    expect(outbox.rewind(queueId, 2)).toBe("rewound");
    const batch = outbox.take(EVERYTHING);
    expect(batch?.after).toBe(2);
    expect(batch?.events.map((event) => event.seq)).toEqual([7, 8, 9, 10, 11]);
    expect(JSON.parse(batch?.events.at(-1)?.data ?? "")).toMatchObject({ reason: "collector-behind", from_seq: 3, to_seq: 6, dropped: 4 });
    expect(outbox.rewind(queueId, 2)).toBe("already-there");
  });

  test("that is ahead of this file makes the queue go on under a new name, without what both have", () => {
    let outbox = open();
    outbox.append(many(4, online));
    outbox = reopen();
    const { queueId } = outbox.state();
    outbox.append([online(200)]);
    expect(outbox.acknowledge(queueId, 90)).toBe("began-anew");
    const batch = outbox.take(EVERYTHING);
    expect(batch?.queueId).not.toBe(queueId);
    expect(batch).toMatchObject({ after: 0, events: [{ seq: 5 }] });
  });
});

describe("an event that can never be sent", () => {
  test("is dropped with a record when it is larger than a whole batch", () => {
    const outbox = open();
    outbox.append([online(1), { ...alert(""), data: { code: "test", message: "x".repeat(5000) } } as ProbeEvent, online(2)]);
    const limits = { maxEvents: 500, maxBytes: 2000 };
    expect(outbox.take(limits)?.events.map((event) => event.seq)).toEqual([1]);
    outbox.acknowledge(outbox.state().queueId, 1);
    const batch = outbox.take(limits);
    expect(batch?.events.map((event) => [event.seq, event.type])).toEqual([[3, "host_online"], [4, "queue_gap"]]);
    expect(JSON.parse(batch?.events[1]?.data ?? "")).toMatchObject({ reason: "too-large", from_seq: 2, to_seq: 2, dropped: 1 });
  });

  test("is dropped with a record when its row can no longer be read", () => {
    const outbox = open();
    outbox.append([online(1), online(2)]);
    database.db.prepare("UPDATE outbox SET data = '{\"ip\":' WHERE seq = 1").run();
    expect(parsed(outbox).map((event) => [event.seq, event.data["reason"]])).toEqual([[2, undefined], [3, "queue-corrupt"]]);
  });
});

describe("a disk that takes nothing", () => {
  const fillUp = () => {
    // SQLite's own limit on the file; it answers as a full disk does, SQLITE_FULL.
    database.db.pragma(`max_page_count = ${Number(database.db.pragma("page_count", { simple: true }))}`);
  };
  const makeRoom = () => database.db.pragma("max_page_count = 1000000");

  test("lets events wait in memory, and takes them in order once it has room", async () => {
    const outbox = open();
    outbox.append([alert("a0")]);
    fillUp();
    for (let n = 1; n < 600; n += 1) outbox.append([alert(`a${n}`)]);
    expect(outbox.state()).toMatchObject({ writable: false });
    expect(outbox.state().inMemory).toBeGreaterThan(100);
    makeRoom();
    appended = 0;
    await clock.advance(1000);
    expect(outbox.state()).toMatchObject({ writable: true, inMemory: 0, events: 600 });
    expect(appended).toBe(1);
    const events = parsed(outbox);
    expect(events.map((event) => event.data["message"])).toEqual(many(500, (n) => `a${n}`));
    outbox.close();
  });

  test("costs the least important events first, under sequences that the gap record names", async () => {
    const outbox = open();
    fillUp();
    for (let round = 0; round < 60; round += 1) outbox.append(many(500, presenceReport));
    outbox.append(many(10, (n) => alert(`a${n}`)));
    const { dropped } = outbox.state();
    expect(dropped).toBeGreaterThan(1000);
    makeRoom();
    await clock.advance(1000);
    const [gap] = parsed(outbox);
    expect(gap).toMatchObject({ type: "queue_gap", data: { reason: "disk-budget", dropped } });
    expect(Number(gap?.data["to_seq"]) - Number(gap?.data["from_seq"]) + 1).toBe(dropped);
    expect(gap?.seq).toBeGreaterThan(Number(gap?.data["to_seq"]));
    expect(outbox.state()).toMatchObject({ dropped, inMemory: 0 });
    outbox.close();
  });

  test("is found out when it breaks somebody else's transaction", async () => {
    const outbox = open();
    fillUp();
    expect(() => database.db.transaction(() => outbox.append(many(500, online)))()).toThrow(
      expect.objectContaining({ code: "SQLITE_FULL" }),
    );
    await Promise.resolve();
    expect(outbox.state().events).toBe(0);
    makeRoom();
    outbox.append([online(1)]);
    await clock.advance(1000);
    expect(outbox.state()).toMatchObject({ events: 1, writable: true });
    outbox.close();
  });
});
