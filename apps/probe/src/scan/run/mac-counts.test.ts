import { expect, test } from "vitest";
import { createMacCounts } from "./mac-counts.ts";

test("counts each of many MACs, as a map does", () => {
  const counts = createMacCounts(Math.random);
  const map = new Map<number, number>();
  const wrong: number[] = [];
  let random = 7;
  const next = () => (random = (random * 48_271) % 2_147_483_647);
  for (let index = 0; index < 50_000; index += 1) {
    // Some vendor's in a row, some made up, some the same again.
    const key = index % 3 === 0 ? 0x00_11_44_00_00_00 + index : (next() % 40_000) * 0x1_0000_0000 + (next() % 4) * 0x1000_0001;
    const count = (map.get(key) ?? 0) + 1;
    map.set(key, count);
    if (counts.add(key) !== count) wrong.push(key);
  }
  for (const [key, count] of map) if (counts.of(key) !== count) wrong.push(key);
  expect([wrong, map.size > 10_000]).toEqual([[], true]);
  expect([counts.of(0), counts.of(0xffff_ffff_ffff), counts.add(0xffff_ffff_ffff), counts.add(0)]).toEqual([map.get(0) ?? 0, 0, 1, (map.get(0) ?? 0) + 1]);
});
