import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createDiskRoom, createFreeSpace } from "../capture-files/disk-room.ts";
import { createRingFiles, readRingFolder } from "./ring-files.ts";

test("a file that cannot be removed keeps its room, and is tried again behind the others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-ring-"));
  const [stuck, other] = [createId(), createId()];
  for (const id of [stuck, other]) writeFileSync(join(folder, `${id}.pcapng`), Buffer.alloc(100));
  mkdirSync(join(folder, `${stuck}.json`));
  const free = createFreeSpace({ path: folder, floorBytes: 0, freeBytes: () => 1e9 });
  const room = createDiskRoom({ free, budgetBytes: 1000, usedBytes: 200 });
  const removed: string[] = [];
  const files = createRingFiles({ folder, found: await readRingFolder(folder), free, room: () => room, onRemoved: (id) => void removed.push(id) });
  await expect(files.removeOldest()).rejects.toThrow();
  expect([files.list().length, room.usedBytes]).toEqual([2, 200]);
  expect(await files.removeOldest()).toBe(true);
  expect([removed, room.usedBytes, existsSync(join(folder, `${other}.pcapng`))]).toEqual([[other], 100, false]);
  rmSync(folder, { recursive: true });
});
