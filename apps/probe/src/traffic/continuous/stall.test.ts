import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFrameBlock } from "@lanthorn/packet-io";
import { readCapture } from "@lanthorn/packets";
import { type Clock, createFakeClock, nextTurn, silentLog } from "@lanthorn/runtime";
import { expect, onTestFinished, test } from "vitest";
import { createBufferPool, createFileWriter, type FileWriter } from "../capture-files/buffer-pool.ts";
import { createFreeSpace } from "../capture-files/disk-room.ts";
import { KEEP_ALL } from "../capture-files/privacy.ts";
import { EPOCH_SECONDS, udpFrame } from "../capture-files/testing/frames.ts";
import { openContinuous } from "./continuous.ts";
import { ContinuousSettings } from "./settings.ts";

/** A writer whose disk can be made to stand still: nothing that goes past the kernel's cache is taken meanwhile. */
function createStallingDisk(clock: Pick<Clock, "monotonic">) {
  const cache = createFileWriter(null);
  let stalledAt: number | null = null;
  let goOn: (() => void) | null = null;
  let tries = 0;
  let going: Promise<void> = Promise.resolve();
  const writer: FileWriter = {
    write: cache.write,
    async writePast() {
      tries += 1;
      await going;
      return false;
    },
    stalledMs: () => (stalledAt === null ? 0 : clock.monotonic() - stalledAt),
  };
  return {
    writer,
    /** Writes that were to go past the cache. */
    tries: () => tries,
    stall() {
      stalledAt = clock.monotonic();
      going = new Promise((resolve) => (goOn = resolve));
    },
    goOn() {
      stalledAt = null;
      goOn?.();
    },
  };
}

/** A capture on such a disk, and numbered frames for it, a hundred in a block. */
async function openScene(buffers: number, settings: Partial<ContinuousSettings>) {
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-stall-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const clock = createFakeClock(EPOCH_SECONDS * 1000);
  const disk = createStallingDisk(clock);
  const capture = await openContinuous({
    load: () => 0, settings: ContinuousSettings.parse({ enabled: true, free_floor_megabytes: 0, ...settings }), dataDir, interfaces: ["lan0"], snapLength: 262_144, application: "test",
    pool: createBufferPool({ buffers, writer: disk.writer }), spare: createBufferPool({ buffers: 2 }), privacy: () => KEEP_ALL, clock, log: silentLog, free: createFreeSpace({ path: dataDir, floorBytes: 0 }),
  });
  const folder = join(dataDir, "captures", "continuous");
  let sent = 0;
  const block = () => encodeFrameBlock(Array.from({ length: 100 }, () => {
    const payload = new Uint8Array(1000);
    new DataView(payload.buffer).setUint32(0, sent);
    sent += 1;
    return { bytes: udpFrame({ payload }), seconds: EPOCH_SECONDS, nanoseconds: sent };
  }));
  const isReady = (waiting = 0) => capture.sink.isReady?.(waiting) ?? true;
  const bring = () => capture.sink.onBlock(block(), 0);
  return {
    capture, disk, clock, isReady, bring,
    sent: () => sent,
    parts: () => readdirSync(folder).filter((name) => name.endsWith(".part")).length,
    async take(blocks: number, waiting = 0) {
      for (let count = 0; count < blocks; count += 1) {
        while (!isReady(waiting)) await nextTurn();
        bring();
      }
    },
    /** The numbers of the frames in each file, once all are written. */
    async close() {
      await capture.sink.close();
      return readdirSync(folder).filter((name) => name.endsWith(".pcapng")).toSorted()
        .map((name) => readCapture(readFileSync(join(folder, name))).records.map(({ bytes }) => Buffer.from(bytes).readUInt32BE(42)));
    },
  };
}

const countTo = (end: number) => Array.from({ length: end }, (_, number) => number);

test("the continuous capture goes on in another file while the disk stands still, and in one that goes past the cache again as soon as that is faster", async () => {
  const { capture, disk, clock, isReady, bring, sent, parts, take, close } = await openScene(4, { budget_megabytes: 64, file_seconds: 10 });
  await take(10);
  await capture.flush();
  disk.stall();
  while (isReady()) bring();
  await clock.advance(20);
  expect([isReady(), parts()]).toEqual([false, 1]);
  await clock.advance(50);
  expect(isReady()).toBe(true);
  await take(100);
  const sentBeside = sent();
  expect(capture.dropped()).toBe(0);
  disk.goOn();
  await capture.flush();
  const tries = disk.tries();
  await take(40);
  expect(disk.tries()).toBe(tries);
  await clock.advance(1000);
  await take(40);
  await capture.flush();
  expect(disk.tries()).toBeGreaterThan(tries);
  const files = await close();
  expect(files.flat()).toEqual(countTo(sent()));
  expect(files.at(-1)?.[0]).toBeGreaterThan(sentBeside);
});

test("the continuous capture goes on in another file where the disk takes less than what comes: as soon as half of what may wait does", async () => {
  const { capture, disk, clock, isReady, bring, sent, parts, take, close } = await openScene(4, { budget_megabytes: 64, file_seconds: 10 });
  await take(10);
  await capture.flush();
  disk.stall();
  while (isReady()) bring();
  expect([isReady(0.4), parts()]).toEqual([false, 1]);
  expect(isReady(0.5)).toBe(true);
  const sentBefore = sent();
  await take(100);
  expect(capture.dropped()).toBe(0);
  disk.goOn();
  await capture.flush();
  await clock.advance(1000);
  const tries = disk.tries();
  // What waits is no reason to stay where there are no buffers: those of the disk are free.
  await take(40, 0.7);
  await capture.flush();
  expect(disk.tries()).toBeGreaterThan(tries);
  const files = await close();
  expect(files.flat()).toEqual(countTo(sent()));
  expect(files.map((numbers) => numbers[0])).toContain(sentBefore);
});

test("files that end early do not bring the capture back to a disk that was too slow a moment ago", async () => {
  const { capture, disk, clock, isReady, bring, sent, take, close } = await openScene(4, { budget_megabytes: 64, file_megabytes: 1, file_seconds: 600 });
  for (const backAfterMs of [200, 400, 800]) {
    disk.stall();
    while (isReady()) bring();
    expect(isReady(0.5)).toBe(true);
    disk.goOn();
    await capture.flush();
    const tries = disk.tries();
    await clock.advance(backAfterMs - 10);
    await take(40);
    expect(disk.tries()).toBe(tries);
    await clock.advance(20);
    await take(40);
    await capture.flush();
    expect(disk.tries()).toBeGreaterThan(tries);
  }
  expect(capture.dropped()).toBe(0);
  const files = await close();
  expect(files.flat()).toEqual(countTo(sent()));
});

test("while buffers are few, nothing is lost of a block in which a buffer ends and the file too", async () => {
  const { capture, disk, isReady, bring, sent, take, close } = await openScene(3, { budget_megabytes: 64, file_megabytes: 1, file_seconds: 600 });
  for (let time = 0; time < 12; time += 1) {
    disk.stall();
    while (isReady()) bring();
    disk.goOn();
    await take(time % 5);
  }
  expect(capture.dropped()).toBe(0);
  const files = await close();
  expect(files.length).toBeGreaterThan(6);
  expect(files.flat()).toEqual(countTo(sent()));
});
