import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nextTurn, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBufferPool } from "../capture-files/buffer-pool.ts";
import { rehearseOverload } from "./rehearsal.ts";

let folder = "";
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "lanthorn-rehearsal-")), "rehearsal");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }));

test("an overload is rehearsed with several files of which nothing is written, and nothing is left of it", async () => {
  mkdirSync(folder);
  writeFileSync(join(folder, "of-a-crash"), "left");
  const pool = createBufferPool({ buffers: 4 });
  const files = new Set<string>();
  let [most, written] = [0, 0];
  const isDone = await rehearseOverload({
    folder, pool, clock: systemClock,
    async pace() {
      await nextTurn();
      most = Math.max(most, pool.inUse);
      for (const name of existsSync(folder) ? readdirSync(folder) : []) {
        files.add(name.replace(".part", ""));
        written += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
      }
      return true;
    },
  });
  expect([isDone, files.has("of-a-crash"), files.size > 8, written, most, pool.inUse, existsSync(folder)]).toEqual([true, false, true, 0, 4, 0, false]);
});

test("a rehearsal that is stopped in the middle gives back what it was lent, and leaves nothing", async () => {
  for (const last of [0, 1, 20, 50, 90, 110, 300]) {
    const pool = createBufferPool({ buffers: 4 });
    let paces = 0;
    const isDone = await rehearseOverload({
      folder, pool, clock: systemClock,
      async pace() {
        await nextTurn();
        paces += 1;
        return paces <= last;
      },
    });
    expect([isDone, paces, pool.inUse, existsSync(folder)]).toEqual([false, last + 1, 0, false]);
  }
});

test("without memory to lend it is not begun", async () => {
  const pool = createBufferPool({ buffers: 1 });
  pool.take();
  expect(await rehearseOverload({ folder, pool, clock: systemClock, pace: () => Promise.resolve(true) })).toBe(false);
  expect(existsSync(folder)).toBe(false);
});

test("where it has no folder everything that was lent comes back", async () => {
  const pool = createBufferPool({ buffers: 4 });
  writeFileSync(folder, "no folder");
  await expect(rehearseOverload({ folder: join(folder, "below"), pool, clock: systemClock, pace: () => nextTurn().then(() => true) })).rejects.toThrow("ENOTDIR");
  expect([pool.inUse, statSync(folder).size]).toEqual([0, 9]);
});
