import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../db/open.ts";
import { openTestDatabase } from "../testing/database.ts";
import { type Lease, openLease } from "./lease.ts";

let directory = "";
let database: Database;
const open: Lease[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-lease-"));
  database = await openTestDatabase(directory);
});
afterEach(async () => {
  for (const lease of open.splice(0)) await lease.close();
  await database.close();
  rmSync(directory, { recursive: true });
});

/** Each process has a clock of its own: one that stands still is a process that is dead. */
async function start(holder: string, onTaken?: () => void): Promise<{ readonly lease: Lease; readonly clock: FakeClock }> {
  const clock = createFakeClock();
  const lease = await openLease({ db: database.db, clock, log: silentLog }, { name: "maintenance", holder, ...(onTaken ? { onTaken } : {}) });
  open.push(lease);
  return { lease, clock };
}

/** A look at the database takes real time, which no clock of ours can move. */
async function pass(clock: FakeClock, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 2) {
    await clock.advance(2000);
    await database.db.selectFrom("leases").selectAll().execute();
    await new Promise((resolve) => {
      setTimeout(resolve, 15);
    });
  }
}

test("the first who asks has it, the second has not, and while the first lives that stays so", async () => {
  const [first, second] = [await start("a"), await start("b")];
  for (let round = 0; round < 10; round += 1) {
    await pass(first.clock, 2);
    await pass(second.clock, 2);
  }
  expect([first.lease.isHeld(), second.lease.isHeld()]).toEqual([true, false]);
});

test("whose holder is dead goes to another within some seconds, which is notified; the dead one does not count on it before that", async () => {
  let taken = 0;
  const first = await start("a");
  const second = await start("b", () => (taken += 1));
  // Its timers do not run, its time does.
  first.clock.monotonic = () => 8001;
  expect(first.lease.isHeld()).toBe(false);
  await pass(second.clock, 10);
  expect([second.lease.isHeld(), taken]).toEqual([false, 0]);
  await pass(second.clock, 6);
  expect([second.lease.isHeld(), taken]).toEqual([true, 1]);
  // The first comes back: it is another's now.
  await pass(first.clock, 4);
  expect([first.lease.isHeld(), second.lease.isHeld()]).toEqual([false, true]);
});

test("that is given up is taken at the next look", async () => {
  const [first, second] = [await start("a"), await start("b")];
  await first.lease.close();
  expect(first.lease.isHeld()).toBe(false);
  await pass(second.clock, 2);
  expect(second.lease.isHeld()).toBe(true);
});
