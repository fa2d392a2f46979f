import { expect, test } from "vitest";
import { createCoalescer } from "./coalescer.ts";

test("what is asked while work is under way is done together, after it", async () => {
  const asked: (readonly (readonly [string, number])[])[] = [];
  const done: (() => void)[] = [];
  const find = createCoalescer<number, string>(async (values) => {
    asked.push([...values]);
    await new Promise<void>((resolve) => done.push(resolve));
    return new Map([...values.keys()].filter((key) => key !== "unknown").map((key) => [key, `${key}!`]));
  });
  const first = [find("a", 1), find("b", 2), find("a", 3)];
  await expect.poll(() => asked).toEqual([[["a", 3], ["b", 2]]]);
  const second = [find("a", 4), find("unknown", 5)];
  done[0]?.();
  expect(await Promise.all(first)).toEqual(["a!", "b!", "a!"]);
  await expect.poll(() => asked[1]).toEqual([["a", 4], ["unknown", 5]]);
  done[1]?.();
  expect(await Promise.all(second)).toEqual(["a!", null]);
});

test("work that fails fails those who asked for it, and nobody after them", async () => {
  let calls = 0;
  const find = createCoalescer<null, number>((asked) => {
    calls += 1;
    return calls === 1 ? Promise.reject(new Error("away")) : Promise.resolve(new Map([...asked.keys()].map((key) => [key, calls])));
  });
  const results = await Promise.allSettled([find("a", null), find("b", null)]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await find("a", null)).toBe(2);
});
