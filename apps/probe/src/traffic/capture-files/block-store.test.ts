import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPieceWriter } from "@lanthorn/packet-io";
import { systemClock } from "@lanthorn/runtime";
import { createBlockStore } from "./block-store.ts";
import { createFileWriter } from "./buffer-pool.ts";
import { createDiskRoom, createFreeSpace } from "./disk-room.ts";

const DISK_BYTES = 1_000_000;
const TRAILER = Buffer.alloc(10, 9);

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-blocks-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function createScene(budgetBytes: number, makeRoom: () => Promise<boolean> = () => Promise.resolve(false)) {
  const path = join(folder, "file");
  const free = createFreeSpace({ path: folder, floorBytes: 0, freeBytes: () => DISK_BYTES });
  const room = createDiskRoom({ free, budgetBytes, makeRoom });
  const store = createBlockStore({ path, room, trailerBytes: TRAILER.length, isHashed: false, isDurable: false, writer: createFileWriter(openPieceWriter(systemClock)), after: Promise.resolve() });
  return { free, room, store, octets: () => readFileSync(path).length };
}

test("nothing stays claimed, however the blocks fill those of the file system", async () => {
  const { free, room, store, octets } = createScene(DISK_BYTES);
  for (let count = 0; count < 10; count += 1) for (const bytes of [4097, 5000, 1]) await store.append(Buffer.alloc(bytes, 1));
  await store.finish(TRAILER);
  expect([store.fault, octets(), room.usedBytes, free.free()]).toEqual([null, 90_990, 90_990, DISK_BYTES]);
});

test("where there is no room for a block, those before it stay, and none comes behind", async () => {
  const { free, room, store, octets } = createScene(10_000);
  for (let count = 0; count < 3; count += 1) await store.append(Buffer.alloc(4000, count));
  expect(store.fault).toBe("budget");
  await store.append(Buffer.alloc(1));
  await store.finish(TRAILER);
  expect([octets(), room.usedBytes, free.free()]).toEqual([8010, 8010, DISK_BYTES]);
});

test("blocks that are written at once lie in their order, and of those for which there is no room the first ones do", async () => {
  const { room, store, octets } = createScene(10_000);
  await store.append(...[1, 2, 3, 4].map((fill) => Buffer.alloc(3000, fill)));
  expect(store.fault).toBe("budget");
  await store.finish(TRAILER);
  expect([octets(), room.usedBytes]).toEqual([9010, 9010]);
  expect([...readFileSync(join(folder, "file"))].filter((octet, index, all) => octet !== all[index - 1])).toEqual([1, 2, 3, 9]);
});

/** @param isBad Whether the disk fails with a block. */
function createFailing(isBad: (block: Uint8Array) => boolean) {
  const path = join(folder, "file");
  const free = createFreeSpace({ path: folder, floorBytes: 0, freeBytes: () => DISK_BYTES });
  const room = createDiskRoom({ free, budgetBytes: DISK_BYTES });
  const writer = createFileWriter(null);
  const store = createBlockStore({
    path, room, trailerBytes: TRAILER.length, isHashed: false, isDurable: false, after: Promise.resolve(),
    writer: { ...writer, write: (file, bytes, position) => (isBad(bytes) ? Promise.reject(new Error("EIO: i/o error")) : writer.write(file, bytes, position)) },
  });
  return { store, room, octets: () => readFileSync(path) };
}

test("where one of the blocks that are written at once fails, those before it stay", async () => {
  const { store, room, octets } = createFailing((block) => block[0] === 3);
  await store.append(...[1, 2, 3, 4].map((fill) => Buffer.alloc(3000, fill)));
  await store.finish(TRAILER);
  expect([store.fault, octets().length, room.usedBytes]).toEqual(["EIO: i/o error", 6010, 6010]);
});

test("of writes beside each other none stays in the file behind one that fails", async () => {
  const { store, room, octets } = createFailing((block) => block[0] === 3);
  const blocksOf = (...fills: readonly number[]) => fills.map((fill) => Buffer.alloc(3000, fill));
  await Promise.all([store.append(...blocksOf(1, 2)), store.append(...blocksOf(3, 4)), store.append(...blocksOf(5, 6)), store.append(...blocksOf(7))]);
  await store.finish(TRAILER);
  expect([store.fault, octets().length, room.usedBytes]).toEqual(["EIO: i/o error", 6010, 6010]);
  expect([...octets()].filter((octet, index, all) => octet !== all[index - 1])).toEqual([1, 2, 9]);
});

test("an older file that cannot be removed ends this one, with the words of the disk", async () => {
  const { free, room, store, octets } = createScene(10_000, () => Promise.reject(new Error("EROFS: read-only file system")));
  await store.append(Buffer.alloc(4000, 1));
  await store.append(Buffer.alloc(8000, 2));
  expect(store.fault).toBe("EROFS: read-only file system");
  await store.finish(TRAILER);
  expect([octets(), room.usedBytes, free.free()]).toEqual([4010, 4010, DISK_BYTES]);

  const full = createScene(0, () => Promise.reject(new Error("EIO: i/o error")));
  await full.store.append(Buffer.alloc(1));
  expect([full.store.fault, await full.store.finish(TRAILER), full.room.usedBytes]).toEqual(["EIO: i/o error", null, 0]);
});
