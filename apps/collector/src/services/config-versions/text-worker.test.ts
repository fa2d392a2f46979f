import { createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDiffs } from "./diffs.ts";
import type { TextTask } from "./text-work.ts";
import { createTextWorker, type TextWorker } from "./text-worker.ts";

let clock: FakeClock;
let worker: TextWorker;
beforeEach(() => {
  clock = createFakeClock();
  worker = createTextWorker({ clock, log: silentLog });
});
afterEach(() => worker.close());

const mask = (text: string): TextTask & { readonly kind: "mask" } => ({ kind: "mask", text });
/** What takes seconds: two texts that differ in thousands of lines. */
const slow = (): TextTask & { readonly kind: "diff" } => {
  const text = (every: number) => Array.from({ length: 40_000 }, (_, at) => `l ${at * 7919 % 40_000}${at % every === 0 ? "x" : ""}`).join("\n");
  return { kind: "diff", from: text(40_001), to: text(11), names: { from: "a", to: "b" }, masked: true };
};
const outcomes = async (runs: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(runs)).map((run) => (run.status === "fulfilled" ? "done" : (run.reason as { readonly code: string }).code));

test("a tenant has so many tasks at a time, and another one is served all the same", async () => {
  const runs = Array.from({ length: 8 }, (_, index) => worker.run("one", mask(`password ${index}`)));
  const other = worker.run("two", mask("password x"));
  expect(await outcomes(runs)).toEqual([...Array.from({ length: 6 }, () => "done"), "RATE_LIMITED", "RATE_LIMITED"]);
  expect(await other).toBe("password [secret]\n");
  expect(await worker.run("one", mask("password x"))).toBe("password [secret]\n");
});

test("a bounded number waits for its turn, and more are refused for now", async () => {
  const runs = Array.from({ length: 40 }, (_, index) => worker.run(`tenant ${index}`, mask("x")));
  const found = await outcomes(runs);
  expect([found.filter((one) => one === "done").length, found.filter((one) => one === "SERVICE_UNAVAILABLE").length]).toEqual([32, 8]);
});

test("what takes too long is given up, and what comes after it is done", async () => {
  const found = outcomes([worker.run("one", slow()), worker.run("one", mask("x"))]);
  await clock.advance(20_000);
  expect(await found).toEqual(["SERVICE_UNAVAILABLE", "done"]);
});

test("a process that has idled is let go, and started again", async () => {
  expect(await worker.run("one", mask("x"))).toBe("x\n");
  await clock.advance(61_000);
  expect(await worker.run("one", mask("y"))).toBe("y\n");
});

test("closing refuses what waits", async () => {
  const found = outcomes([worker.run("one", slow()), worker.run("one", mask("x"))]);
  worker.close();
  expect(await found).toEqual(["SERVICE_UNAVAILABLE", "SERVICE_UNAVAILABLE"]);
});

test("a difference is made once for all who ask, and again where it shows secrets or was refused", async () => {
  let made = 0;
  const diffs = createDiffs(worker);
  const task = async () => {
    made += 1;
    return { ...slow(), from: "a", to: "b" };
  };
  const which = { tenantId: "one", oldId: "1", newId: "2", masked: true };
  const together = await Promise.all([diffs.of(which, task), diffs.of(which, task)]);
  expect([together[0].diff === together[1].diff, (await diffs.of(which, task)).added, made]).toEqual([true, 1, 1]);
  for (const other of [{ ...which, tenantId: "two" }, { ...which, newId: "3" }]) await diffs.of(other, task);
  expect(made).toBe(3);
  for (let count = 0; count < 2; count += 1) await diffs.of({ ...which, masked: false }, task);
  expect(made).toBe(5);
  const broken = { ...which, oldId: "9" };
  await expect(diffs.of(broken, () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  expect((await diffs.of(broken, task)).added).toBe(1);
});
