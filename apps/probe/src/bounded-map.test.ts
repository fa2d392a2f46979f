import { expect, test } from "vitest";
import { createBoundedMap } from "./bounded-map.ts";

test("the entry that was put first leaves, unless it was put again or taken out", () => {
  const map = createBoundedMap<string, number>(3);
  for (const [at, key] of ["a", "b", "c", "a", "d"].entries()) map.put(key, at);
  expect([...map]).toEqual([["c", 2], ["a", 3], ["d", 4]]);
  map.delete("c");
  for (const [at, key] of ["e", "f"].entries()) map.put(key, at);
  expect([...map.keys()]).toEqual(["d", "e", "f"]);
  map.clear();
  for (const [at, key] of ["g", "h", "i", "j"].entries()) map.put(key, at);
  expect([...map.values()]).toEqual([1, 2, 3]);
  expect([map.size, map.has("g"), map.get("j")]).toEqual([3, false, 3]);
});

test("it does what a list does, whatever is put and taken out", () => {
  const map = createBoundedMap<number, number>(16);
  let list: number[] = [];
  let state = 7;
  for (let at = 0; at < 20_000; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const key = (state >>> 8) % 40;
    const what = (state >>> 20) & 7;
    if (what === 1) expect(map.takeOldest()?.[0]).toBe(list.shift());
    else if (what === 0) {
      map.delete(key);
      list = list.filter((one) => one !== key);
    } else {
      map.put(key, at);
      list = [...list.filter((one) => one !== key), key].slice(-16);
    }
    if (at % 100 === 0) expect([...map.keys()]).toEqual(list);
  }
});
