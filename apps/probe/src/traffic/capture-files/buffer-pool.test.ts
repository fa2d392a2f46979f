import type { FileHandle } from "node:fs/promises";
import type { PieceWriter } from "@lanthorn/packet-io";
import { expect, test } from "vitest";
import { BUFFER_BYTES, createFileWriter } from "./buffer-pool.ts";

const BLOCKS = [Buffer.alloc(BUFFER_BYTES), Buffer.alloc(BUFFER_BYTES)];
const WRITES_OF_16_MIB = 16;

/** A disk that takes each write when `until` is over, and keeps what it has when it is let. */
function openDisk() {
  const disk = { now: 0, isFull: false, asked: 0, tookMs: 1, until: Promise.resolve() };
  let kept = (): void => {};
  const direct = {
    fd: 7,
    datasync() {
      disk.asked += 1;
      return new Promise<void>((resolve) => {
        kept = resolve;
      });
    },
  } as unknown as FileHandle;
  const pieces: PieceWriter = {
    release: () => {},
    write: (_file, bytes) => Promise.resolve(bytes.length),
    writePast(_file, blocks) {
      disk.now += disk.tookMs;
      return disk.until.then(() => blocks.reduce((sum, { length }) => sum + length, 0));
    },
  };
  const writer = createFileWriter(pieces, { isFull: () => disk.isFull, clock: { monotonic: () => disk.now } });
  let position = 0;
  return {
    disk,
    keep: async () => {
      kept();
      await Promise.resolve();
    },
    async write(times = 1): Promise<boolean> {
      let isPast = true;
      for (let time = 0; time < times; time += 1) {
        isPast = await writer.writePast({ handle: direct, direct }, BLOCKS, position);
        position += BLOCKS.length * BUFFER_BYTES;
      }
      return isPast;
    },
  };
}

test("the disk is made to keep what goes past the cache, each 16 MiB, and not while it is at it or has more to do", async () => {
  const { disk, write, keep } = openDisk();
  await write(WRITES_OF_16_MIB - 1);
  expect(disk.asked).toBe(0);
  await write();
  expect(disk.asked).toBe(1);
  await write(3 * WRITES_OF_16_MIB);
  expect(disk.asked).toBe(1);
  await keep();
  disk.isFull = true;
  await write();
  expect(disk.asked).toBe(1);
  disk.isFull = false;
  await write();
  expect(disk.asked).toBe(2);
});

test("what waits goes by way of the cache where the disk is slow, not where this process is late, and not while the disk keeps what it has", async () => {
  const { disk, write, keep } = openDisk();
  disk.isFull = true;
  expect(await write(3)).toBe(true);
  disk.tookMs = 60;
  expect(await write()).toBe(true);
  expect(await write()).toBe(false);
  disk.isFull = false;
  disk.tookMs = 1;
  expect(await write(WRITES_OF_16_MIB)).toBe(true);
  expect(disk.asked).toBe(1);
  disk.isFull = true;
  disk.tookMs = 60;
  expect([await write(), await write()]).toEqual([true, true]);
  disk.now += 40;
  expect(await write()).toBe(true);
  await keep();
  await write();
  expect(await write()).toBe(false);
});

test("a write that waited until the disk kept what came before, and ends after that, says nothing of the disk", async () => {
  const { disk, write, keep } = openDisk();
  let letGo = (): void => {};
  disk.until = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const first = write();
  disk.until = Promise.resolve();
  await write(WRITES_OF_16_MIB);
  expect(disk.asked).toBe(1);
  await keep();
  disk.now += 30;
  letGo();
  expect(await first).toBe(true);
  disk.isFull = true;
  expect(await write()).toBe(true);
});
