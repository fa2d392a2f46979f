import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../db/open.ts";
import { openTestDatabase } from "../../testing/database.ts";
import { createSharedRateLimiter } from "./shared-rate-limit.ts";

const TIER = { perMinute: 60, burst: 10 };

let directory = "";
let database: Database;
let clock: FakeClock;
let isOpen = true;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-limits-"));
  database = await openTestDatabase(directory);
  clock = createFakeClock();
  isOpen = true;
});
afterEach(async () => {
  if (isOpen) await database.close();
  rmSync(directory, { recursive: true });
});
const limiter = () => createSharedRateLimiter({ db: database.db, clock, log: silentLog });

describe("the rate limiter of several processes", () => {
  test("gives a caller one allowance at all of them, also when it asks all at once", async () => {
    const processes = [limiter(), limiter(), limiter()];
    const answers = await Promise.all(Array.from({ length: 30 }, async (_, index) => processes[index % 3]?.take("a", TIER)));
    expect(answers.filter((answer) => answer?.allowed)).toHaveLength(10);
    expect(answers.filter((answer) => answer?.allowed).map((answer) => answer?.remaining ?? -1).toSorted((a, b) => a - b))
      .toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await processes[1]?.take("a", TIER)).toEqual({ allowed: false, limit: 60, remaining: 0, retryAfterMs: 1000, resetMs: 1000 });
    expect(await processes[1]?.take("b", TIER)).toMatchObject({ allowed: true, remaining: 9 });
  });

  test("counts for what several callers share, at all of them, and for neither where one refuses", async () => {
    const processes = [limiter(), limiter(), limiter()];
    const shared = { caller: "user", tier: { perMinute: 15, burst: 15 } };
    const answers = await Promise.all(Array.from({ length: 30 }, async (_, index) =>
      processes[index % 3]?.take(`token ${index % 5}`, { perMinute: 5, burst: 5 }, shared)));
    expect(answers.filter((answer) => answer?.allowed)).toHaveLength(15);
    expect(await processes[0]?.take("token 9", { perMinute: 5, burst: 5 }, shared)).toMatchObject({ allowed: false, limit: 5 });
    expect(await processes[0]?.take("token 9", { perMinute: 5, burst: 5 })).toMatchObject({ allowed: true, remaining: 4 });
  });

  test("slides: a client that waits for Retry-After gets through, and no more than a minute's quota passes in any minute", async () => {
    const [one, two] = [limiter(), limiter()];
    for (let count = 0; count < 60; count += 1) {
      expect((await (count % 2 === 0 ? one : two).take("a", TIER)).allowed).toBe(true);
      await clock.advance(200);
    }
    expect(await two.take("a", TIER)).toMatchObject({ allowed: false, retryAfterMs: 48_000 });
    await clock.advance(48_000);
    expect((await one.take("a", TIER)).allowed).toBe(true);
  });

  test("forgets who has not asked for a minute", async () => {
    const one = limiter();
    await one.take("a", TIER);
    await clock.advance(120_001);
    await one.job.run();
    expect(await database.db.selectFrom("request_times").selectAll().execute()).toEqual([]);
  });

  test("counts by itself while the database does not answer", async () => {
    const one = limiter();
    await database.close();
    isOpen = false;
    const answers = [];
    for (let count = 0; count < 11; count += 1) answers.push((await one.take("a", TIER)).allowed);
    expect(answers).toEqual([...Array.from({ length: 10 }, () => true), false]);
  });
});
