import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PIECE_MAX_BYTES } from "@lanthorn/contract/uplink";
import { createFakeClock, type FakeClock, nextTurn, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CollectorRequests, createCollectorRequests } from "../identity/collector-requests.ts";
import { createTestCa } from "../identity/testing/collector.ts";
import { createFileSender, type FileSender } from "./file-sender.ts";
import { createPace } from "./pace.ts";
import { createSpool, type Spool } from "./spool.ts";
import { type FileCollector, startFileCollector } from "./testing/collector.ts";

let dataDir: string;
let collector: FileCollector;
let spool: Spool;
let clock: FakeClock;
let backlog: boolean;
const open: (() => unknown)[] = [];

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-spool-"));
  collector = await startFileCollector(await createTestCa());
  spool = createSpool({ dataDir, budgetBytes: 8 * PIECE_MAX_BYTES });
  clock = createFakeClock();
  backlog = false;
});
afterEach(async () => {
  for (const close of open.splice(0)) await close();
  await collector.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const hand = async (content: Uint8Array) => {
  const path = join(dataDir, "given");
  writeFileSync(path, content);
  return spool.add(path, "capture");
};
const send = (identity = collector.identity, bytesPerSecond = 1e9): FileSender => {
  const requests: CollectorRequests = createCollectorRequests({ identity: () => identity, collectorUrl: null });
  const sender = createFileSender({
    spool, requests, pace: createPace({ hasBacklog: () => backlog, bytesPerSecond, clock }), random: () => 0, log: silentLog,
  });
  open.push(() => sender.close().then(() => requests.close()));
  return sender;
};
/** Moves the clock on until it is so: what goes over the wire takes its own time. */
const until = (is: () => boolean | Promise<boolean>, stepMs = 500) => expect.poll(async () => {
  await clock.advance(stepMs);
  return is();
}, { timeout: 300_000, interval: 5 }).toBe(true);
/** Where files wait: their bytes go behind their notes. */
const outgoing = () => readdirSync(join(dataDir, "outgoing"));
const times = (request: string) => collector.requests.filter((one) => one.startsWith(request)).length;

describe("files that are handed in", () => {
  test("go up in pieces under the probe's certificate, in their order, and leave the spool", async () => {
    const contents = [randomBytes(2 * PIECE_MAX_BYTES + 77), randomBytes(10)];
    const files = [await hand(contents[0] as Buffer), await hand(contents[1] as Buffer)];
    expect(await spool.list()).toEqual(files);
    send();
    await until(() => outgoing().length === 0);
    expect(files.map(({ id }) => collector.received.get(id)?.equals(contents[files.findIndex((file) => file.id === id)] as Buffer))).toEqual([true, true]);
    expect([...collector.received.keys()]).toEqual(files.map(({ id }) => id));
    expect(times("PUT")).toBe(4);
  });

  test("go on where the collector has them, after connections that broke and after a new start", async () => {
    const content = randomBytes(3 * PIECE_MAX_BYTES);
    const { id } = await hand(content);
    let broken = 0;
    // Each piece breaks once before it is taken.
    collector.instead = (request) => (request.startsWith("PUT") && (broken += 1) % 2 === 1 ? "break" : null);
    const first = send();
    await until(() => times("PUT") === 3);
    await first.close();
    expect((await spool.list()).map((file) => file.id)).toEqual([id]);
    send();
    await until(() => collector.received.has(id));
    expect(collector.received.get(id)?.equals(content)).toBe(true);
    expect(times("PUT")).toBeLessThanOrEqual(7);
  });

  test("wait while events wait, also between two pieces", async () => {
    const { id } = await hand(randomBytes(3 * PIECE_MAX_BYTES));
    backlog = true;
    send();
    await clock.advance(60_000);
    expect(collector.requests).toEqual([]);
    collector.instead = (request) => {
      if (request.startsWith("PUT")) backlog = true;
      return null;
    };
    backlog = false;
    await until(() => times("PUT") === 1);
    await clock.advance(60_000);
    expect(times("PUT")).toBe(1);
    backlog = false;
    await until(() => times("PUT") === 2);
    collector.instead = () => null;
    backlog = false;
    await until(() => collector.received.has(id));
  });

  test("go no faster than they may", async () => {
    const { id } = await hand(randomBytes(5 * PIECE_MAX_BYTES));
    send(collector.identity, PIECE_MAX_BYTES);
    for (const pieces of [1, 2, 3]) {
      await expect.poll(() => times("PUT")).toBe(pieces);
      // Time in which one that did not wait would have sent the rest.
      for (let n = 0; n < 4; n += 1) await hand(randomBytes(10));
      await clock.advance(900);
      expect(times("PUT")).toBe(pieces);
      await clock.advance(100);
    }
    await until(() => collector.received.has(id));
  });

  test("are kept when the collector has no room for them, and asked for no sooner than it says", async () => {
    const { id } = await hand(randomBytes(100));
    const body = { error: { code: "RATE_LIMITED", message: "no room", details: { reason: "kept-quota" } } };
    collector.instead = () => ({ status: 429, body, headers: { "retry-after": "3600" } });
    send();
    await until(() => times("POST") === 1);
    await clock.advance(3_500_000);
    expect([times("POST"), (await spool.list()).length]).toEqual([1, 1]);
    collector.instead = () => null;
    await until(() => collector.received.has(id), 10_000);
  });

  test("are kept for a collector that knows nothing of files yet", async () => {
    const { id } = await hand(randomBytes(100));
    collector.instead = () => ({ status: 404, body: { error: { code: "NOT_FOUND", message: "there is no such path", details: null } } });
    send();
    await until(() => times("POST") >= 3, 60_000);
    expect((await spool.list()).map((file) => file.id)).toEqual([id]);
    collector.instead = () => null;
    await until(() => collector.received.has(id), 60_000);
  });

  test("are removed when the collector never takes them, and when they have been cut short here; the next goes up", async () => {
    const large = await hand(randomBytes(100));
    const short = await hand(randomBytes(5000));
    const good = await hand(randomBytes(50));
    truncateSync(spool.path(short.id), 100);
    const body = { error: { code: "BAD_REQUEST", message: "too large", details: { reason: "file-too-large" } } };
    let isFirst = true;
    collector.instead = () => {
      const answer = isFirst ? { status: 413, body } : null;
      isFirst = false;
      return answer;
    };
    send();
    await until(() => outgoing().length === 0);
    expect([...collector.received.keys()]).toEqual([good.id]);
    expect(collector.received.has(large.id)).toBe(false);
  });

  test("are sent to nobody but a collector of the CA that was pinned", async () => {
    await hand(randomBytes(100));
    send({ ...collector.identity, ca_certificate: (await createTestCa()).pem });
    await clock.advance(120_000);
    await expect.poll(() => collector.requests).toEqual([]);
    expect(await spool.list()).toHaveLength(1);
  });
});

describe("the spool", () => {
  test("takes no more than its budget, nothing empty, and nothing that is no file", async () => {
    await hand(randomBytes(7 * PIECE_MAX_BYTES));
    const code = { code: "file-refused" };
    await expect(hand(randomBytes(PIECE_MAX_BYTES + 1))).rejects.toMatchObject(code);
    await expect(hand(new Uint8Array(0))).rejects.toMatchObject(code);
    await expect(spool.add(dataDir, "capture")).rejects.toMatchObject(code);
    await expect(spool.add(join(dataDir, "not-there"), "capture")).rejects.toMatchObject(code);
    expect(await spool.list()).toHaveLength(1);
  });

  test("takes a file under an id of its own, and once; one that is moved is not copied", async () => {
    const path = join(dataDir, "captured");
    const id = randomUUID();
    writeFileSync(path, "packets");
    const { ino } = statSync(path);
    const file = await spool.add(path, "capture", { id, move: true });
    expect(file).toMatchObject({ id, size: 7 });
    expect([existsSync(path), statSync(spool.path(id)).ino]).toEqual([false, ino]);
    // As after a crash behind the note: the same file once more.
    writeFileSync(path, "packets");
    expect(await spool.add(path, "capture", { id, move: true })).toEqual(file);
    expect([existsSync(path), await spool.list()]).toEqual([false, [file]]);
  });

  test("leaves a file that is to be moved where it is when it does not fit", async () => {
    const path = join(dataDir, "captured");
    writeFileSync(path, randomBytes(8 * PIECE_MAX_BYTES + 1));
    await expect(spool.add(path, "capture", { move: true })).rejects.toMatchObject({ code: "file-refused" });
    expect(statSync(path).size).toBe(8 * PIECE_MAX_BYTES + 1);
    expect(await spool.list()).toEqual([]);
  });

  test("does not list all that waits for each file that is added", async () => {
    await hand(randomBytes(10));
    const stray = join(dataDir, "outgoing", `${randomUUID()}.json`);
    writeFileSync(stray, "no note of anything");
    await hand(randomBytes(10));
    expect(existsSync(stray)).toBe(true);
    // A listing takes away what cannot be read: after many files there is one, and where the budget seems to be spent.
    for (let count = 0; count < 70; count += 1) await hand(randomBytes(10));
    expect(existsSync(stray)).toBe(false);
    writeFileSync(stray, "no note of anything");
    await expect(hand(randomBytes(8 * PIECE_MAX_BYTES))).rejects.toMatchObject({ code: "file-refused" });
    expect(existsSync(stray)).toBe(false);
  });

  test("waits for a disk that hangs without holding up anybody else", async () => {
    const id = randomUUID();
    mkdirSync(join(dataDir, "outgoing"));
    const note = join(dataDir, "outgoing", `${id}.json`);
    // To open it waits until somebody opens its other end.
    execFileSync("mkfifo", [note]);
    const found = spool.find(id);
    for (let turns = 0; turns < 100; turns += 1) await nextTurn();
    await writeFile(note, "no note of anything");
    expect(await found).toBeNull();
  });

  test("are listed in many turns, however many there are, and read once", async () => {
    const home = join(dataDir, "outgoing");
    mkdirSync(home);
    const ids = Array.from({ length: 1000 }, () => randomUUID()).toSorted();
    for (const id of ids) {
      writeFileSync(join(home, `${id}.data`), "x");
      writeFileSync(join(home, `${id}.json`), JSON.stringify({ id, kind: "capture", size: 1, sha256: "a".repeat(64) }));
    }
    let turns = 0;
    const listing = { isOver: false };
    const turn = async () => {
      for (; !listing.isOver; turns += 1) await nextTurn();
    };
    const turning = turn();
    expect((await spool.list()).map(({ id }) => id)).toEqual(ids);
    listing.isOver = true;
    await turning;
    expect(turns).toBeGreaterThan(50);
    const [gone = "", other = ""] = ids;
    rmSync(join(home, `${gone}.data`));
    rmSync(join(home, `${other}.json`));
    expect((await spool.list()).map(({ id }) => id)).toEqual(ids.slice(2));
    expect([await spool.find(gone), await spool.find(other), (await spool.find(ids[2] ?? ""))?.size, existsSync(join(home, `${gone}.json`))]).toEqual([null, null, 1, false]);
  });

  test("leaves out what was not written to its end, and what is no note of ours", async () => {
    const { id } = await hand(randomBytes(10));
    const home = join(dataDir, "outgoing");
    const other = id.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    writeFileSync(join(home, `${other}.json`), `{"id":"../../x"`);
    writeFileSync(join(home, "notes.txt"), "x");
    expect((await spool.list()).map((file) => file.id)).toEqual([id]);
    expect(readdirSync(home).toSorted()).toEqual([`${id}.data`, `${id}.json`, "notes.txt"]);
  });
});
