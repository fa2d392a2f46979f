import { describe, expect, test } from "vitest";
import { createBackoff } from "./backoff.ts";
import { createFakeClock } from "./clock.ts";
import { describeError } from "./errors.ts";
import { createLifecycle, keepUntilDone } from "./lifecycle.ts";
import { silentLog } from "./log.ts";

describe("a lifecycle", () => {
  test("closes what was opened last first, once, and goes on after a failure", async () => {
    const closed: string[] = [];
    const lifecycle = createLifecycle({ log: silentLog, closeTimeoutMs: 1000 });
    lifecycle.onClose("database", () => void closed.push("database"));
    lifecycle.onClose("broker", () => Promise.reject(new Error("broken")));
    lifecycle.onClose("server", () => void closed.push("server"));
    await Promise.all([lifecycle.close(), lifecycle.close()]);
    expect(closed).toEqual(["server", "database"]);
  });

  test("does not wait for ever for a part that does not close", async () => {
    const lifecycle = createLifecycle({ log: silentLog, closeTimeoutMs: 20 });
    let databaseClosed = false;
    lifecycle.onClose("database", () => {
      databaseClosed = true;
    });
    lifecycle.onClose("hanging", () => new Promise(() => undefined));
    await lifecycle.close();
    expect(databaseClosed).toBe(true);
  });
});

describe("a fake clock", () => {
  test("calls what falls due in order, and no cancelled task", async () => {
    const clock = createFakeClock(0);
    const calls: string[] = [];
    clock.after(30, () => calls.push("c"));
    clock.after(10, () => calls.push("a"));
    const end = clock.every(20, () => calls.push(`b@${clock.now()}`));
    clock.after(5, () => calls.push("never"))();
    await clock.advance(40);
    end();
    await clock.advance(100);
    expect(calls).toEqual(["a", "b@20", "c", "b@40"]);
    expect(clock.now()).toBe(140);
  });

  test("jumps without its timers noticing", async () => {
    const clock = createFakeClock(1000);
    clock.jump(3_600_000);
    expect([clock.now(), clock.monotonic()]).toEqual([3_601_000, 0]);
  });
});

test("a backoff doubles its ceiling up to the longest and starts again after a success", () => {
  const backoff = createBackoff({ firstMs: 1000, longestMs: 3000, random: () => 0.999_999 });
  expect([backoff.next(), backoff.next(), backoff.next(), backoff.next()]).toEqual([1000, 2000, 3000, 3000]);
  backoff.reset();
  expect(backoff.next()).toBe(1000);
});

test("an error is described with its whole chain of causes, and a circle ends", () => {
  const inner = new Error("no such file");
  expect(describeError(new Error("cannot start", { cause: inner }))).toBe("cannot start: no such file");
  inner.cause = inner;
  expect(describeError(inner).length).toBeLessThan(200);
});

test("what goes on is waited for, and what has ended is forgotten, whichever way it ended", async () => {
  const all = new Set<Promise<unknown>>();
  let end: () => void = () => undefined;
  keepUntilDone(all, new Promise<void>((resolve) => (end = resolve)));
  keepUntilDone(all, Promise.reject(new Error("it failed")));
  expect(all.size).toBe(2);
  end();
  await Promise.all(all);
  expect(all.size).toBe(0);
});
