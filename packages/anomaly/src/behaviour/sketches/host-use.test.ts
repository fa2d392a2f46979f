import { expect, test } from "vitest";
import { createHostUse } from "./host-use.ts";

/** Whether a host that three devices used in an hour is common: in that hour, while it is compared, and after it. */
function after(settle: (use: ReturnType<typeof createHostUse>) => unknown): readonly boolean[] {
  const use = createHostUse(10);
  for (const device of ["camera", "desk", "laptop"]) use.use("198.51.100.9", device);
  const common = [use.isCommon("198.51.100.9")];
  use.closeHour();
  common.push(use.isCommon("198.51.100.9"));
  settle(use);
  return [...common, use.isCommon("198.51.100.9")];
}

test("what is used in an hour is common at once, and stays so only where the hour is learned of three devices", () => {
  expect(after((use) => [...use.settleHour([])])).toEqual([true, true, true]);
  expect(after((use) => [...use.settleHour(null)])).toEqual([true, true, false]);
  expect(after((use) => [...use.settleHour(["desk"])])).toEqual([true, true, false]);
  const lost = createHostUse(10);
  for (const device of ["camera", "desk", "laptop"]) lost.use("198.51.100.9", device);
  lost.dropHour();
  lost.closeHour();
  expect([...lost.settleHour([])]).toEqual([]);
  expect(lost.isCommon("198.51.100.9")).toBe(false);
});

test("an hour and what is kept are bounded, and what was used last stays", () => {
  const use = createHostUse(10);
  for (let round = 0; round < 3; round += 1) {
    for (let host = 0; host < 1000; host += 1) for (const device of ["camera", "desk", "laptop"]) use.use(`host-${round}-${host}`, device);
    use.closeHour();
    for (const piece of use.settleHour([])) expect(piece).toBeUndefined();
  }
  const common = Array.from({ length: 1000 }, (_, host) => host).filter((host) => use.isCommon(`host-2-${host}`) || use.isCommon(`host-1-${host}`));
  expect(common).toEqual([990, 991, 992, 993, 994, 995, 996, 997, 998, 999]);
});
