import { createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createRateLimiter } from "./rate-limit.ts";

const TIER = { perMinute: 60, burst: 10 };

describe("the rate limiter", () => {
  test("allows a burst and says what is left of the tighter window", () => {
    const limiter = createRateLimiter({ clock: createFakeClock() });
    const answers = Array.from({ length: 11 }, () => limiter.take("a", TIER));
    expect(answers.map((answer) => answer.remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0]);
    expect(answers.map((answer) => answer.allowed)).toEqual([...Array.from({ length: 10 }, () => true), false]);
    expect(answers[10]?.retryAfterMs).toBe(1000);
  });

  test("slides: across the edge of a minute no more than the limit passes", async () => {
    const clock = createFakeClock();
    const limiter = createRateLimiter({ clock });
    const passed: number[] = [];
    for (let tenth = 0; tenth < 1800; tenth += 1) {
      if (limiter.take("a", TIER).allowed) passed.push(clock.monotonic());
      await clock.advance(100);
    }
    for (const start of passed) {
      expect(passed.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(60);
      expect(passed.filter((at) => at >= start && at < start + 1000).length).toBeLessThanOrEqual(10);
    }
    expect(passed.length).toBe(180);
  });

  test("a refused request costs nothing, and waiting for Retry-After is enough", async () => {
    const clock = createFakeClock();
    const limiter = createRateLimiter({ clock });
    for (let count = 0; count < 60; count += 1) {
      limiter.take("a", TIER);
      await clock.advance(200);
    }
    const refused = limiter.take("a", TIER);
    expect(refused).toMatchObject({ allowed: false, limit: 60, remaining: 0, retryAfterMs: 48_000 });
    for (let count = 0; count < 100; count += 1) limiter.take("a", TIER);
    await clock.advance(refused.retryAfterMs);
    expect(limiter.take("a", TIER).allowed).toBe(true);
  });

  test("keeps callers apart, and forgets the quietest when there are too many", () => {
    const limiter = createRateLimiter({ clock: createFakeClock() });
    for (let count = 0; count < 10; count += 1) limiter.take("a", TIER);
    expect(limiter.take("a", TIER).allowed).toBe(false);
    expect(limiter.take("b", TIER).remaining).toBe(9);
    for (let caller = 0; caller < 10_000; caller += 1) limiter.take(`c${caller}`, TIER);
    expect(limiter.take("a", TIER).remaining).toBe(9);
  });

  test("remembers so many requests in all, however few callers made them, and forgets those of the quietest", async () => {
    const clock = createFakeClock();
    const limiter = createRateLimiter({ clock, maxRequests: 100 });
    const ask = (caller: string) => Array.from({ length: 10 }, () => limiter.take(caller, TIER, { caller: "all of them", tier: { perMinute: 1000, burst: 1000 } }));
    ask("first");
    for (let caller = 0; caller < 4; caller += 1) ask(`c${caller}`);
    expect(limiter.take("first", TIER).allowed).toBe(false);
    ask("c4");
    // What it asked with the others was before, and so was theirs.
    expect([limiter.take("c0", TIER).remaining, limiter.take("first", TIER).allowed]).toEqual([9, false]);
    await clock.advance(60_000);
    for (let caller = 0; caller < 9; caller += 1) ask(`d${caller}`);
    expect(limiter.take("d8", TIER).allowed).toBe(false);
  });
});
