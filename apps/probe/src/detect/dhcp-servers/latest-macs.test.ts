import { expect, test } from "vitest";
import { createLatestMacs } from "./latest-macs.ts";

test("it has what a set has from which the first one leaves for each that is too many", () => {
  const macs = createLatestMacs(16);
  const set = new Set<number>();
  // Also some that differ in their upper or lower half alone.
  const some = Array.from({ length: 48 }, (_, n) => (n % 3 === 0 ? n * 2 ** 32 : n % 3 === 1 ? 2 ** 47 + n : n * 2 ** 40 + 0xffff_ffff));
  for (let n = 0; n < 5000; n += 1) {
    const mac = some[(n * n + 7 * n) % some.length] as number;
    expect(macs.has(mac)).toBe(set.has(mac));
    if (set.has(mac)) continue;
    macs.add(mac);
    set.add(mac);
    if (set.size > 16) set.delete(set.values().next().value as number);
  }
  expect(set.size).toBe(16);
});
