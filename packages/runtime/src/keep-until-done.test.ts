import { expect, test } from "vitest";
import { keepUntilDone } from "./keep-until-done.ts";

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
