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

test("the continuous capture goes on in another file while the disk stands still, and in one that goes past the cache again as soon as that is faster", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-stall-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const clock = createFakeClock(EPOCH_SECONDS * 1000);
  const disk = createStallingDisk(clock);
  const capture = await openContinuous({
    load: () => 0, settings: ContinuousSettings.parse({ enabled: true, budget_megabytes: 64, free_floor_megabytes: 0, file_seconds: 10 }), dataDir, interfaces: ["lan0"], snapLength: 262_144, application: "test",
    pool: createBufferPool({ buffers: 4, writer: disk.writer }), spare: createBufferPool({ buffers: 2 }), privacy: () => KEEP_ALL, clock, log: silentLog, free: createFreeSpace({ path: dataDir, floorBytes: 0 }),
  });
  const folder = join(dataDir, "captures", "continuous");
  let sent = 0;
  const block = () => encodeFrameBlock(Array.from({ length: 100 }, () => {
    const payload = new Uint8Array(1000);
    new DataView(payload.buffer).setUint32(0, sent);
    sent += 1;
    return { bytes: udpFrame({ payload }), seconds: EPOCH_SECONDS, nanoseconds: sent };
  }));
  const isReady = () => capture.sink.isReady?.() ?? true;
  const take = async (blocks: number) => {
    for (let count = 0; count < blocks; count += 1) {
      while (!isReady()) await nextTurn();
      capture.sink.onBlock(block(), 0);
    }
  };
  await take(10);
  await capture.flush();
  disk.stall();
  while (isReady()) capture.sink.onBlock(block(), 0);
  await clock.advance(20);
  expect([isReady(), readdirSync(folder).filter((name) => name.endsWith(".part")).length]).toEqual([false, 1]);
  await clock.advance(30);
  expect(isReady()).toBe(true);
  await take(100);
  const sentBeside = sent;
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
  await capture.sink.close();
  const files = readdirSync(folder).filter((name) => name.endsWith(".pcapng")).toSorted()
    .map((name) => readCapture(readFileSync(join(folder, name))).records.map(({ bytes }) => Buffer.from(bytes).readUInt32BE(42)));
  expect(files.flat()).toEqual(Array.from({ length: sent }, (_, number) => number));
  expect(files.at(-1)?.[0]).toBeGreaterThan(sentBeside);
});
