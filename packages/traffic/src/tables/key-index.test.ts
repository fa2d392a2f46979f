import { expect, test } from "vitest";
import { seededRandom } from "../../../packets/src/testing/hostile.ts";
import { IPV4_BIT, KEY_AT, KEY_WORDS, KeyIndex } from "./key-index.ts";

/** Numbers from 0 to below 1, the same ones each time. */
function createRandom(seed: number): () => number {
  const random = seededRandom(seed);
  return () => random(1e9) / 1e9;
}

test("an index that is empty has no key, that of zeros neither", () => {
  const index = new KeyIndex(8, createRandom(1));
  index.key.fill(0);
  expect(index.find()).toBe(-1);
});

test.each([1, 2, 3])("finds what was added and not removed since, however keys follow each other (%s)", (seed) => {
  const random = createRandom(seed);
  const index = new KeyIndex(24, random);
  const known = new Map<string, number>();
  const counts = { found: 0, missed: 0 };
  for (let step = 0; step < 20_000; step += 1) {
    // 40 keys for 24 entries, and 32 places of those found last: many take each other's.
    const which = Math.floor(random() * 40);
    index.key.fill(0);
    index.key.set([which & 7, which >> 3, (which * 7) << 16], KEY_AT.low);
    index.key[KEY_AT.high] = which * 977;
    index.key[KEY_AT.protocol] = 17 | ((which & 1) * IPV4_BIT);
    const text = index.key.join();
    const entry = index.find();
    expect(entry).toBe(known.get(text) ?? -1);
    counts[entry < 0 ? "missed" : "found"] += 1;
    if (entry >= 0 && random() < 0.3) {
      index.remove(entry);
      known.delete(text);
    } else if (entry < 0 && !index.isFull) {
      known.set(text, index.add());
      expect([...index.words(known.get(text) ?? 0, 0, KEY_WORDS)]).toEqual([...index.key]);
    }
  }
  expect(index.size).toBe(known.size);
  expect(Math.min(counts.found, counts.missed)).toBeGreaterThan(2000);
});
