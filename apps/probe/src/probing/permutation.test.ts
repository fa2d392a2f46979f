import { seededRandom } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createPermutation } from "./permutation.ts";

function seeded(seed: number): () => number {
  const random = seededRandom(seed);
  return () => random(2 ** 32) / 2 ** 32;
}

test.each([1, 2, 3, 5, 254, 256, 257, 4094, 65_534, 256_000])("visits each of %i numbers once", (count) => {
  const at = createPermutation(count, seeded(count));
  const seen = new Uint8Array(count);
  for (let place = 0; place < count; place += 1) seen[at(place)] = (seen[at(place)] ?? 0) + 1;
  expect(seen.every((times) => times === 1)).toBe(true);
});

test("spreads neighbors apart, and gives another order for other randomness", () => {
  const at = createPermutation(100_000, seeded(1));
  const other = createPermutation(100_000, seeded(2));
  let near = 0;
  let same = 0;
  for (let place = 1; place < 10_000; place += 1) {
    if (Math.abs(at(place) - at(place - 1)) < 1000) near += 1;
    if (at(place) === other(place)) same += 1;
  }
  // 2 % by chance.
  expect(near).toBeLessThan(400);
  expect(same).toBeLessThan(10);
});

test("visits every number once, whatever is drawn, and the same way again", () => {
  for (const count of [1, 2, 3, 254, 1022, 65_534]) {
    for (const draw of [0, 0.3, 0.77, 0.999_999]) {
      const at = createPermutation(count, () => draw);
      const visited = Array.from({ length: count }, (_, place) => at(place));
      expect(new Set(visited).size).toBe(count);
      expect(Math.max(...visited.slice(0, 1000), 0)).toBeLessThan(count);
      expect(Array.from({ length: Math.min(count, 50) }, (_, place) => at(place))).toEqual(visited.slice(0, 50));
    }
  }
});
