import { constantFrom, assert, array, double, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { CALM, judgeLimit, type Limit, type Standing } from "./limits.ts";

const HOT: Limit = { metric: "temperature", bad: "above", threshold: 80, hysteresis: 5 };
const DAYS: Limit = { metric: "certificate", bad: "below", threshold: 10, hysteresis: 1 };

/** What is said after each value. */
function follow(limit: Limit, values: readonly (number | null)[], samples = 3): readonly (string | null)[] {
  let standing: Standing = CALM;
  return values.map((value) => {
    const judged = judgeLimit(standing, limit, value, samples);
    standing = judged.standing;
    return judged.change;
  });
}

describe("a health limit", () => {
  test("raises after enough reports in a row over it, and once only", () => {
    expect(follow(HOT, [85, 85, 85, 85, 99, 99])).toEqual([null, null, "raised", null, null, null]);
  });

  test("does not raise for peaks with rest between them", () => {
    expect(follow(HOT, [85, 85, 70, 85, 85, 70]).some(Boolean)).toBe(false);
  });

  test("does not raise at the threshold itself", () => {
    expect(follow(HOT, [80, 80, 80, 80]).some(Boolean)).toBe(false);
  });

  test("clears below it by its hysteresis only, after as many reports", () => {
    expect(follow(HOT, [85, 85, 85, 79, 79, 79, 79, 75, 75, 75, 75])).toEqual([
      null, null, "raised", null, null, null, null, null, null, "cleared", null,
    ]);
  });

  test("raises again after it was cleared", () => {
    expect(follow(HOT, [85, 85, 70, 70, 85, 85], 2).filter(Boolean)).toEqual(["raised", "cleared", "raised"]);
  });

  test("works from the other side for what must not become too little", () => {
    expect(follow(DAYS, [40, 9, 9, 9, 10.5, 10.5, 90, 90, 90])).toEqual([null, null, null, "raised", null, null, null, null, "cleared"]);
  });

  test("says nothing where there is no value, and forgets nothing", () => {
    expect(follow(HOT, [85, 85, null, 85])).toEqual([null, null, null, "raised"]);
  });

  test("never says the same thing twice in a row, whatever the values", () => {
    assert(property(array(double({ min: 60, max: 100, noNaN: true }), { maxLength: 200 }), constantFrom(1, 2, 5), (values, samples) => {
      const said = follow(HOT, values, samples).filter((change) => change !== null);
      return said.every((change, index) => change === (index % 2 === 0 ? "raised" : "cleared"));
    }), { seed: 7 });
  });
});
