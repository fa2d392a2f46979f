import { expect, test } from "vitest";
import { createTogether } from "./together.ts";

test("what is asked while a question is under way is asked together, after it", async () => {
  const asked: (readonly string[])[] = [];
  const answer: (() => void)[] = [];
  const find = createTogether(async (keys) => {
    asked.push(keys);
    await new Promise<void>((resolve) => answer.push(resolve));
    return new Map(keys.filter((key) => key !== "unknown").map((key) => [key, `${key}!`]));
  });
  const first = [find("a"), find("b"), find("a")];
  await expect.poll(() => asked).toEqual([["a", "b"]]);
  const second = [find("a"), find("unknown")];
  answer[0]?.();
  expect(await Promise.all(first)).toEqual(["a!", "b!", "a!"]);
  await expect.poll(() => asked).toEqual([["a", "b"], ["a", "unknown"]]);
  answer[1]?.();
  expect(await Promise.all(second)).toEqual(["a!", null]);
});

test("a question that fails fails those who asked, and nobody after them", async () => {
  let calls = 0;
  const find = createTogether((keys) => {
    calls += 1;
    return calls === 1 ? Promise.reject(new Error("away")) : Promise.resolve(new Map(keys.map((key) => [key, calls])));
  });
  const results = await Promise.allSettled([find("a"), find("b")]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await find("a")).toBe(2);
});
