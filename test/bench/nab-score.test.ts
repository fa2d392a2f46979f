import { expect, test } from "vitest";
import { scoreCorpus } from "./nab-score.ts";

/** A hundred rows, of which 15 are not scored, with a window of rows 40 to 49. */
const FILE = { values: 100, windows: [{ first: 40, last: 49 }] };

function detectionsAt(...rows: readonly number[]): Float64Array {
  const scores = new Float64Array(FILE.values);
  for (const row of rows) scores[row] = 0.9;
  return scores;
}

const at = (...rows: readonly number[]) => scoreCorpus([FILE], [detectionsAt(...rows)], 0.5).atThreshold;

test("a window found at its first row is worth all, and later rows of it change nothing", () => {
  expect(at(40)).toEqual({ standard: 100, low_fp: 100, low_fn: 100 });
  expect(at(40, 45, 49)).toEqual(at(40));
});

test("a window found late is worth little, and a detection before any window costs its whole weight", () => {
  // Found at the last row: sigma(-0.1) / sigma(-1) = 0.2449 / 0.9866, and the window is not missed.
  expect(at(49).standard).toBeCloseTo((100 * (1 + 0.2449 / 0.9866)) / 2, 1);
  expect(at(40, 20)).toEqual({ standard: 94.5, low_fp: 89, low_fn: 96.33 });
  expect(at(10, 40)).toEqual(at(40));
});

test("no detection gives 0, false ones alone give less, and the best threshold of all is never below 0", () => {
  expect(at().standard).toBe(0);
  expect(at(20).standard).toBe(-5.5);
  expect(scoreCorpus([FILE], [detectionsAt(20)], 0.5).best.standard).toBe(0);
});
