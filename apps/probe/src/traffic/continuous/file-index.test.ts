import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, createFakeClock, createId, nextTurn, silentLog } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createContents } from "../capture-files/file-contents.ts";
import { createFileIndex, type FileIndex } from "./file-index.ts";

let folder: string;
let load: number;
let clock: ReturnType<typeof createFakeClock>;
const open: FileIndex[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-index-"));
  load = 0;
  clock = createFakeClock();
});
afterEach(async () => {
  for (const index of open.splice(0)) await index.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(ids: readonly string[], own: Pick<Clock, "monotonic" | "after"> = clock): FileIndex {
  const index = createFileIndex({ folder, maxFlowBytes: 1024 * 1024, ids, onFile: () => {}, load: () => load, clock: own, log: silentLog });
  open.push(index);
  return index;
}

/** An index that has files, and is closed again. */
async function filled(files: number): Promise<readonly string[]> {
  const ids = Array.from({ length: files }, () => createId()).toSorted();
  const index = start([]);
  for (const id of ids) {
    index.add({ id, from: 1, to: 2, frames: 1, bytes: 1 }, createContents());
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  }
  await index.close();
  return ids;
}

function rows(): readonly unknown[] {
  const db = new Database(join(folder, "index.sqlite"), { readonly: true });
  const found = db.prepare("SELECT id FROM files JOIN contents ON file = id ORDER BY id").pluck().all();
  db.close();
  return found;
}

async function untilRows(expected: readonly string[]): Promise<void> {
  for (let turn = 0; turn < 200 && rows().length !== expected.length; turn += 1) await clock.advance(50);
  expect(rows()).toEqual(expected);
}

test("a file that is removed leaves the index when there is little to do, and not where it is removed", async () => {
  const ids = await filled(3);
  const index = start(ids);
  await index.scanned;
  load = 1;
  index.remove(ids[0] ?? "");
  await clock.advance(1000);
  expect(rows()).toEqual(ids);
  load = 0;
  await untilRows(ids.slice(1));
});

test("a file that is gone when the index is closed leaves it after the next start, a step at a time", async () => {
  const ids = await filled(3);
  const before = start(ids);
  await before.scanned;
  load = 1;
  before.remove(ids[0] ?? "");
  await before.close();
  expect(rows()).toEqual(ids);
  const index = start(ids.slice(1));
  await index.scanned;
  expect(rows()).toEqual(ids);
  load = 0;
  await untilRows(ids.slice(1));
});

test("where the disk is slow, fewer files are looked at in one turn", async () => {
  const ids = await filled(24);
  let at = 0;
  const index = start(ids, { after: clock.after, monotonic: () => (at += 3) });
  await index.scanned;
  let turns = 0;
  const state = { isOver: false };
  const looking = index.withHosts(ids, ["10.0.0.1"]).finally(() => (state.isOver = true));
  for (; !state.isOver; turns += 1) await nextTurn();
  expect(await looking).toEqual([]);
  expect(turns).toBeGreaterThan(10);
});
