import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFrameBlock } from "@lanthorn/packet-io";
import { readCapture } from "@lanthorn/packets";
import { createFakeClock, createId, type FakeClock, nextTurn, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBufferPool } from "../capture-files/buffer-pool.ts";
import { openCaptureFile } from "../capture-files/capture-file.ts";
import { createFreeSpace } from "../capture-files/disk-room.ts";
import { KEEP_ALL } from "../capture-files/privacy.ts";
import { EPOCH_SECONDS, fileOptions, udpFrame, viewOf } from "../capture-files/testing/frames.ts";
import { type ContinuousCapture, openContinuous } from "./continuous.ts";
import { ContinuousSettings } from "./settings.ts";

const MEBI = 1024 * 1024;

let dataDir: string;
let folder: string;
let clock: FakeClock;
let sent: number;
const open: ContinuousCapture[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-continuous-"));
  folder = join(dataDir, "captures", "continuous");
  clock = createFakeClock(EPOCH_SECONDS * 1000);
  sent = 0;
});
afterEach(async () => {
  for (const capture of open.splice(0)) await capture.sink.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const sizes = () => (existsSync(folder) ? readdirSync(folder) : []).map((name) => {
  const found = statSync(join(folder, name), { throwIfNoEntry: false });
  return { name, size: found?.size ?? 0 };
});
const captureBytes = () => sizes().filter(({ name }) => name.includes(".pcapng")).reduce((sum, { size }) => sum + size, 0);
const allBytes = () => sizes().reduce((sum, { size }) => sum + Math.ceil(size / 4096) * 4096, 0);

async function start(settings: Partial<ContinuousSettings>, disk?: { readonly bytes: number; readonly floor: number }): Promise<ContinuousCapture> {
  const capture = await openContinuous({
    load: () => 0, settings: ContinuousSettings.parse({ enabled: true, budget_megabytes: 16, free_floor_megabytes: 0, ...settings }), dataDir, interfaces: ["lan0", "lan1"],
    snapLength: 262_144, application: "test", pool: createBufferPool({ buffers: 16 }), spare: createBufferPool({ buffers: 2 }), privacy: () => KEEP_ALL, clock, log: silentLog,
    free: createFreeSpace({ path: dataDir, floorBytes: disk?.floor ?? 0, ...(disk && { freeBytes: () => disk.bytes - allBytes() }) }),
  });
  open.push(capture);
  return capture;
}

/** Frames of one second; each carries its number. */
function block(frames: number, bytes = 1000, ends: { readonly source?: string; readonly destination?: string } = {}) {
  return encodeFrameBlock(Array.from({ length: frames }, (_, n) => {
    const payload = new Uint8Array(bytes);
    new DataView(payload.buffer).setUint32(0, sent);
    sent += 1;
    return { bytes: udpFrame({ payload, ...ends }), seconds: EPOCH_SECONDS + Math.floor(clock.monotonic() / 1000), nanoseconds: n };
  }));
}
const numbersIn = (path: string) => readCapture(readFileSync(path)).records.map(({ bytes }) => Buffer.from(bytes).readUInt32BE(42));
const ringNumbers = () => sizes().filter(({ name }) => name.endsWith(".pcapng")).map(({ name }) => name).toSorted().map((name) => numbersIn(join(folder, name)));

/** Sends so much that every buffer is written before the next comes. */
async function record(capture: ContinuousCapture, seconds: number, make: () => ReturnType<typeof block>): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    capture.sink.onBlock(make(), second % 2);
    await capture.flush();
    await clock.advance(1000);
    capture.sink.tick?.(clock.now());
  }
}

describe("continuous capture", () => {
  test("keeps its budget before it writes, and the newest frames without a gap", async () => {
    const capture = await start({ budget_megabytes: 10, file_seconds: 4, file_megabytes: 1 });
    let largest = 0;
    for (let n = 0; n < 60; n += 1) {
      await record(capture, 1, () => block(500));
      largest = Math.max(largest, captureBytes());
    }
    expect(largest).toBeGreaterThan(5 * MEBI);
    expect(largest).toBeLessThanOrEqual(10 * MEBI);
    expect(allBytes()).toBeLessThanOrEqual(10 * MEBI);
    await capture.sink.close();
    const kept = ringNumbers();
    expect(kept.length).toBeGreaterThanOrEqual(8);
    const numbers = kept.flat();
    expect(numbers.at(-1)).toBe(sent - 1);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => sent - numbers.length + n));
    expect(capture.state()).toMatchObject({ budget_bytes: 10 * MEBI, problem: null });
  });

  test("files end after their seconds, and can be read while they are written", async () => {
    const capture = await start({ file_seconds: 10 });
    await record(capture, 25, () => block(10));
    const files = sizes().map(({ name }) => name).filter((name) => name.includes("pcapng")).toSorted();
    expect(files.filter((name) => name.endsWith(".part"))).toHaveLength(1);
    expect(files).toHaveLength(3);
    await capture.flush();
    const part = files.find((name) => name.endsWith(".part")) ?? "";
    expect(numbersIn(join(folder, part)).at(-1)).toBe(sent - 1);
    expect(capture.state()).toMatchObject({ from: "2023-11-14T22:13:20.000Z", to: "2023-11-14T22:13:44.000Z" });
  });

  test("never uses the floor of free space, whoever takes the rest, and goes on when there is room for one file only", async () => {
    const disk = { bytes: 48 * MEBI, floor: 20 * MEBI };
    const capture = await start({ budget_megabytes: 1024, file_megabytes: 4 }, disk);
    let lowest = Infinity;
    const watch = () => {
      lowest = Math.min(lowest, disk.bytes - allBytes());
    };
    for (let n = 0; n < 60; n += 1) {
      await record(capture, 1, () => block(500));
      watch();
    }
    expect(lowest).toBeGreaterThanOrEqual(disk.floor);
    // Another program takes what is left but for less than a file of before.
    disk.bytes = disk.floor + 13 * MEBI;
    await record(capture, 5, () => block(100));
    lowest = Infinity;
    const before = sent;
    for (let n = 0; n < 40; n += 1) {
      await record(capture, 1, () => block(200));
      watch();
    }
    expect(lowest).toBeGreaterThanOrEqual(disk.floor);
    await capture.sink.close();
    const numbers = ringNumbers().flat();
    expect(numbers.length).toBeGreaterThan(500);
    expect(numbers.at(-1)).toBe(sent - 1);
    expect(numbers[0]).toBeGreaterThan(before);
  });

  test("what was missing while no file was open is said by the next one", async () => {
    const capture = await start({ file_seconds: 2 });
    await record(capture, 4, () => block(10));
    await capture.flush();
    expect(sizes().filter(({ name }) => name.endsWith(".part"))).toEqual([]);
    capture.sink.onMissing?.(0, 7, "the kernel's ring was full");
    capture.sink.onMissing?.(0, 3, "the kernel's ring was full");
    capture.sink.shed(5, 500, 1);
    await record(capture, 2, () => block(10));
    await capture.sink.close();
    const files = sizes().map(({ name }) => name).filter((name) => name.endsWith(".pcapng")).toSorted();
    const comments = files.map((name) => readFileSync(join(folder, name)).toString("latin1").match(/\d+ frames are missing[^\0]*/g));
    expect(comments.slice(0, -1).every((found) => found === null)).toBe(true);
    expect(comments.at(-1)?.join()).toContain("10 frames are missing before this one: the kernel's ring was full");
    expect(comments.at(-1)?.join()).toContain("5 frames are missing before this one");
  });

  test("without any room it says why, loses frames and nothing else, and goes on by itself", async () => {
    const disk = { bytes: MEBI, floor: 20 * MEBI };
    const capture = await start({}, disk);
    await record(capture, 5, () => block(100));
    expect(capture.state().problem).toContain("kept free");
    expect(captureBytes()).toBe(0);
    disk.bytes = 100 * MEBI;
    await record(capture, 5, () => block(100));
    await capture.sink.close();
    expect(capture.state().problem).toBeNull();
    expect(ringNumbers().flat().at(-1)).toBe(sent - 1);
  });

  test("a removal that frees nothing is a problem that health shows", async () => {
    const capture = await start({ budget_megabytes: 8, file_megabytes: 1 }, { bytes: 0, floor: 0 }).catch(() => null);
    await capture?.sink.close();
    // Each file is held by a second name, as by a program that has it open.
    const held = join(dataDir, "held");
    mkdirSync(held);
    const used = () => [folder, held].flatMap((path) => readdirSync(path).map((name) => statSync(join(path, name), { throwIfNoEntry: false })))
      .filter((found, n, all) => found && all.findIndex((other) => other?.ino === found.ino) === n).reduce((sum, found) => sum + (found?.size ?? 0), 0);
    const holding = await openContinuous({
      load: () => 0, settings: ContinuousSettings.parse({ enabled: true, budget_megabytes: 8, file_megabytes: 1 }), dataDir, interfaces: ["lan0"], snapLength: 262_144,
      application: "test", pool: createBufferPool({ buffers: 16 }), spare: createBufferPool({ buffers: 2 }), privacy: () => KEEP_ALL, clock, log: silentLog,
      free: createFreeSpace({ path: dataDir, floorBytes: 0, freeBytes: () => 200 * MEBI - used() }),
    });
    open.push(holding);
    for (let n = 0; n < 60 && holding.state().problem === null; n += 1) {
      await record(holding, 1, () => block(400));
      for (const { name } of sizes()) if (name.endsWith(".pcapng") && !existsSync(join(held, name))) linkSync(join(folder, name), join(held, name));
    }
    expect(holding.state().problem).toContain("gives the disk no room");
  });

  test("a file that is read is not removed, and is counted apart", async () => {
    const capture = await start({ budget_megabytes: 10, file_megabytes: 1 });
    await record(capture, 4, () => block(500));
    const [first] = await capture.find({ from: 0, to: 1e15, hosts: [] });
    expect(capture.lock(first?.id ?? "")).toBe(true);
    await record(capture, 60, () => block(500));
    expect(existsSync(first?.paths[0] ?? "")).toBe(true);
    expect(numbersIn(first?.paths[0] ?? "")[0]).toBe(0);
    expect(captureBytes()).toBeLessThanOrEqual(10 * MEBI + statSync(first?.paths[0] ?? "").size);
    capture.unlock(first?.id ?? "");
    await record(capture, 2, () => block(1000));
    expect(existsSync(first?.paths[0] ?? "")).toBe(false);
    expect(capture.lock(first?.id ?? "")).toBe(false);
  });
});

describe("a file that ends while files are looked for", () => {
  const numbersOf = (files: Awaited<ReturnType<ContinuousCapture["find"]>>) => files.flatMap(({ paths }) => numbersIn(paths.find((path) => existsSync(path)) ?? ""));
  const everything = { from: 0, to: 1e15, hosts: ["10.0.0.1"] };

  test("is found, though it ends between the first look and the last", async () => {
    const capture = await start({});
    for (let n = 0; n < 3; n += 1) {
      await record(capture, 2, () => block(10));
      const finding = capture.find(everything);
      capture.configure();
      const found = await finding;
      await capture.flush();
      expect(new Set(numbersOf(found))).toEqual(new Set(Array.from({ length: sent }, (_, number) => number)));
    }
  });

  test("is found while it is not finished, and is there for who reads it", async () => {
    const capture = await start({});
    await record(capture, 2, () => block(10));
    capture.configure();
    capture.sink.onBlock(block(10), 0);
    const found = await capture.find(everything);
    expect(found.map(({ id }) => capture.lock(id) || capture.isUnfinished(id))).toEqual([true, true]);
    await capture.flush();
    expect(numbersOf(found)).toEqual(Array.from({ length: sent }, (_, number) => number));
    expect([capture.isUnfinished(found[0]?.id ?? ""), capture.isUnfinished(found[1]?.id ?? "")]).toEqual([false, true]);
  });
});

describe("the index", () => {
  const withHosts = async (capture: ContinuousCapture) => {
    for (const last of [1, 2, 3]) {
      await record(capture, 5, () => block(5, 100, { source: `10.0.0.${last}`, destination: "10.0.9.9" }));
      capture.configure();
      await capture.flush();
    }
  };
  const count = async (capture: ContinuousCapture, ...hosts: readonly string[]) => (await capture.find({ from: 0, to: 1e15, hosts })).length;

  test("finds the files of a time, a host and a pair", async () => {
    const capture = await start({});
    await withHosts(capture);
    expect([await count(capture), await count(capture, "10.0.0.2"), await count(capture, "10.0.9.9"), await count(capture, "10.0.0.7")]).toEqual([3, 1, 3, 0]);
    expect([await count(capture, "10.0.0.2", "10.0.9.9"), await count(capture, "10.0.0.2", "10.0.0.1")]).toEqual([1, 0]);
    const [file] = await capture.find({ from: EPOCH_SECONDS * 1000 + 5500, to: EPOCH_SECONDS * 1000 + 9000, hosts: [] });
    expect(new Set(readCapture(readFileSync(file?.paths[0] ?? "")).records.map(({ bytes }) => bytes[29]))).toEqual(new Set([2]));
    expect(await capture.find({ from: 0, to: EPOCH_SECONDS * 1000 - 1, hosts: [] })).toEqual([]);
  });

  test("leaves out no file with a tunnel, inside of which anybody may be", async () => {
    const capture = await start({});
    await withHosts(capture);
    for (const destinationPort of [4789, 40_000]) {
      capture.sink.onBlock(encodeFrameBlock([{ bytes: udpFrame({ source: "10.0.0.8", destination: "10.0.9.9", sourcePort: 40_001, destinationPort }), seconds: EPOCH_SECONDS, nanoseconds: 0 }]), 0);
      capture.configure();
      await capture.flush();
    }
    expect([await count(capture), await count(capture, "10.0.0.8"), await count(capture, "10.0.0.2"), await count(capture, "203.0.113.9")]).toEqual([5, 2, 2, 1]);
  });

  test.each(["removed", "garbage", "a table less", "cut"])("that is %s is made anew from the files", async (damage) => {
    const before = await start({});
    await withHosts(before);
    await before.sink.close();
    const path = join(folder, "index.sqlite");
    if (damage === "removed") rmSync(path);
    if (damage === "garbage") writeFileSync(path, Buffer.alloc(50_000, 7));
    if (damage === "cut") truncateSync(path, 5000);
    if (damage === "a table less") {
      const { default: Database } = await import("better-sqlite3");
      const db = new Database(path);
      db.exec("DROP TABLE contents; CREATE TABLE contents (other TEXT)");
      db.close();
    }
    const capture = await start({});
    await capture.ready;
    expect(existsSync(`${path}.corrupt`)).toBe(damage !== "removed");
    expect([await count(capture), await count(capture, "10.0.0.2"), await count(capture, "10.0.0.7")]).toEqual([3, 1, 0]);
    expect(capture.state()).toMatchObject({ from: "2023-11-14T22:13:20.000Z", problem: null });
  });

  test("takes in what a crash left, and forgets files that are gone; what holds nothing is removed", async () => {
    const before = await start({});
    await withHosts(before);
    await before.sink.close();
    const [gone = ""] = sizes().map(({ name }) => name).filter((name) => name.endsWith(".pcapng")).toSorted();
    rmSync(join(folder, gone));
    const options = fileOptions(folder, { folder: join(dataDir, "elsewhere"), about: null, id: createId() });
    const crashed = openCaptureFile(options);
    for (let n = 0; n < 50; n += 1) crashed.add(viewOf(udpFrame({ source: "10.0.0.44" }), n), 0);
    await crashed.flush();
    const name = `${crashed.id}.pcapng.part`;
    renameSync(join(options.folder, name), join(folder, name));
    truncateSync(join(folder, name), statSync(join(folder, name)).size - 7);
    writeFileSync(join(folder, `${createId()}.pcapng.part`), "no block");
    const capture = await start({});
    await capture.ready;
    expect([await count(capture), await count(capture, "10.0.0.44"), await count(capture, "10.0.0.1")]).toEqual([3, 1, 0]);
    expect(readCapture(readFileSync(join(folder, `${crashed.id}.pcapng`)))).toMatchObject({ malformed: null, records: { length: 49 } });
    expect(sizes().filter((one) => one.name.endsWith(".part"))).toEqual([]);
    await crashed.abandon();
  });

  test("stays small when every frame is of another conversation, and exports then read the files themselves", async () => {
    const capture = await start({ budget_megabytes: 16, file_megabytes: 2 });
    for (let n = 0; n < 40; n += 1) {
      const frames = Array.from({ length: 1000 }, (_, m) => ({
        bytes: udpFrame({ source: `10.${n}.${m >> 8}.${m & 255}`, destination: `172.16.${m & 255}.${n}`, payload: new Uint8Array(4) }), seconds: EPOCH_SECONDS + n, nanoseconds: m,
      }));
      capture.sink.onBlock(encodeFrameBlock(frames), 0);
      await capture.flush();
      await nextTurn();
    }
    capture.configure();
    await capture.flush();
    expect(await count(capture, "203.0.113.9")).toBe(await count(capture));
    expect(sizes().filter(({ name }) => name.startsWith("index")).reduce((sum, { size }) => sum + size, 0)).toBeLessThan(2 * MEBI);
  });
});
