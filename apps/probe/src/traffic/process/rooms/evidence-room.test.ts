import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, createId, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createDiskRoom, createFreeSpace } from "../../capture-files/disk-room.ts";
import { createEvidenceRoom } from "./evidence-room.ts";
import { createStoredFiles } from "./stored-files.ts";

const EVE = "02:00:00:00:00:66";
const ANN = "02:00:00:00:00:02";
const BOB = "02:00:00:00:00:03";
const macOf = (count: number) => `02:00:00:01:${String(Math.floor(count / 100)).padStart(2, "0")}:${String(count % 100).padStart(2, "0")}`;

function createScene(leastBytes = 0, budgetBytes = 1000) {
  const clock = createFakeClock(1_700_000_000_000);
  const stored = createStoredFiles({ folder: "/nonexistent", onRemoved: () => {}, leastBytes: () => leastBytes });
  const room = createDiskRoom({ free: createFreeSpace({ path: "/", floorBytes: 0, freeBytes: () => 1e12 }), budgetBytes });
  const rooms = createEvidenceRoom({ room, budgetBytes, stored, clock, log: silentLog });
  return {
    clock, rooms, stored, room,
    /** Writes a file of so many bytes, as far as there is room. @returns Its id, and its bytes. */
    async write(mac: string, bytes: number) {
      const id = createId();
      const own = rooms.of(id, mac);
      let written = 0;
      for (; written < bytes && await own.claim(50) === null; written += 50) own.settle(50, 50);
      rooms.finished(id);
      if (written > 0) room.added(stored.add({ pcap_id: id, trigger: "alert", size_bytes: written, finished_at: new Date(clock.now()).toISOString(), macs: [mac], ips: [] } as never));
      return { id, written };
    },
  };
}

test("alerts of one attacker push out nothing that was there before, and that is counted", async () => {
  const { write, rooms, stored, room } = createScene();
  const first = await write(EVE, 200);
  const other = await write(ANN, 100);
  for (let count = 0; count < 20; count += 1) await write(EVE, 300);
  expect([first, other].map(({ id }) => stored.isOf(id, () => true))).toEqual([true, true]);
  expect(room.usedBytes).toBe(1000);
  expect(rooms.gaveWay).toBeGreaterThan(10);
});

test("evidence about another gets room, from the newest of who takes most", async () => {
  const { write, stored } = createScene();
  const first = await write(EVE, 300);
  for (let count = 0; count < 5; count += 1) await write(EVE, 300);
  const quiet = await write(ANN, 200);
  expect(quiet.written).toBe(200);
  expect(stored.isOf(first.id, () => true)).toBe(true);
});

test("who takes most gets room from its own evidence once that is a day old", async () => {
  const { write, stored, clock } = createScene();
  const first = await write(EVE, 1000);
  expect((await write(EVE, 100)).written).toBe(0);
  await clock.leap(86_400_001);
  expect((await write(EVE, 100)).written).toBe(100);
  expect(stored.isOf(first.id, () => true)).toBe(false);
});

test("whoever takes another address for each alert pushes out nothing of others either, and who was known before still gets room", async () => {
  const { write, stored, rooms } = createScene(0, 3200);
  const isThere = ({ id }: { readonly id: string }) => stored.isOf(id, () => true);
  const first = await write(ANN, 100);
  const other = [await write(BOB, 100), await write(BOB, 100), await write(BOB, 100)];
  for (let count = 0; count < 500; count += 1) await write(macOf(count), 100);
  expect([first, ...other].map(isThere)).toEqual([true, true, true, true]);
  expect(rooms.gaveWay).toBeGreaterThan(400);
  expect((await write(ANN, 100)).written).toBe(100);
  expect([first, ...other].map(isThere)).toEqual([true, true, true, true]);
});

test("those who are new get shares of their own again on another day", async () => {
  const { write, stored, clock } = createScene(0, 3200);
  for (let count = 0; count < 500; count += 1) await write(macOf(count), 100);
  await clock.leap(86_400_001);
  const fresh = await write(ANN, 100);
  expect(fresh.written).toBe(100);
  for (let count = 500; count < 1000; count += 1) await write(macOf(count), 100);
  expect(stored.isOf(fresh.id, () => true)).toBe(true);
});

test("the first evidence about somebody goes for nobody else's for a day, where it is small", async () => {
  const { write, stored, clock } = createScene();
  const remove = (smallBytes: number) => stored.removeNewestOf(ANN, { since: clock.now() - 86_400_000, smallBytes });
  await write(ANN, 100);
  expect([await remove(100), await remove(99)]).toEqual([null, 100]);
  await write(ANN, 100);
  await write(ANN, 50);
  expect([await remove(100), await remove(100)]).toEqual([50, null]);
  await clock.leap(86_400_001);
  expect([await remove(100), await remove(100)]).toEqual([100, null]);
});

test("small files count for more than their bytes, so that there are never too many", async () => {
  const { write, stored, room, clock } = createScene(100);
  const written = [];
  for (let count = 0; count < 30; count += 1) {
    if (count % 10 === 0) await clock.leap(86_400_001);
    written.push(await write(macOf(count), 50));
  }
  expect(written.every((one) => one.written === 50)).toBe(true);
  expect(written.filter(({ id }) => stored.isOf(id, () => true))).toHaveLength(10);
  expect([room.usedBytes, stored.bytesOf(() => true)]).toEqual([1000, 1000]);
  for (const { id } of written) room.removed(stored.forget(id));
  expect(room.usedBytes).toBe(0);
});

test("a file that cannot be removed keeps its room, and is tried again behind the others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-stored-"));
  const stored = createStoredFiles({ folder, onRemoved: () => {}, leastBytes: () => 0 });
  const [stuck, other] = [createId(), createId()];
  for (const id of [stuck, other]) stored.add({ pcap_id: id, trigger: "request", size_bytes: 100, finished_at: null, macs: [], ips: [] } as never);
  mkdirSync(join(folder, `${stuck}.pcapng`));
  await expect(stored.removeOldest(() => true)).rejects.toThrow();
  expect(stored.bytesOf(() => true)).toBe(200);
  expect(await stored.removeOldest(() => true)).toBe(100);
  expect([stuck, other].map((id) => stored.isOf(id, () => true))).toEqual([true, false]);
  rmSync(folder, { recursive: true });
});
