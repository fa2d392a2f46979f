import { describe, expect, test } from "vitest";
import { createDetector, type Detector, restoreDetector } from "./detector.ts";
import { SHIPPED_THRESHOLD } from "./evidence.ts";

const STEP_SECONDS = 300;
const ROWS_A_DAY = 288;

/** A day's wave with a little ripple: usual at row after row. */
function usual(row: number): number {
  return 50 + 20 * Math.sin((2 * Math.PI * row) / ROWS_A_DAY) + Math.sin(row * 7.3);
}

function feed(detector: Detector, from: number, to: number): number[] {
  const scores: number[] = [];
  for (let row = from; row < to; row += 1) scores.push(detector.observe(row * STEP_SECONDS, usual(row)).score);
  return scores;
}

describe("a detector", () => {
  test("is silent about what repeats, and reports what is usual at another hour as season", () => {
    const detector = createDetector();
    const scores = feed(detector, 0, 10 * ROWS_A_DAY);
    expect(Math.max(...scores.slice(2 * ROWS_A_DAY))).toBeLessThan(SHIPPED_THRESHOLD);
    const peakHour = 10 * ROWS_A_DAY + ROWS_A_DAY / 4;
    feed(detector, 10 * ROWS_A_DAY, peakHour);
    const { score, evidence } = detector.observe(peakHour * STEP_SECONDS, 30);
    expect(score).toBeGreaterThanOrEqual(SHIPPED_THRESHOLD);
    expect(evidence.season).toBeGreaterThan(evidence.level);
    expect(evidence.range).toBe(0);
  });

  test("takes a slope that stays for usual, and reports one that becomes several times as steep as trend", () => {
    const detector = createDetector();
    const rows = 10 * ROWS_A_DAY;
    // As a disk fills, with a little ripple.
    const scores = Array.from({ length: rows }, (_, row) => detector.observe(row * STEP_SECONDS, 2 * row + 5 * Math.sin(row * 7.3)).score);
    expect(Math.max(...scores.slice(ROWS_A_DAY))).toBeLessThan(SHIPPED_THRESHOLD);
    const readings = Array.from({ length: ROWS_A_DAY }, (_, row) => detector.observe((rows + row) * STEP_SECONDS, 2 * rows + 14 * row + 5 * Math.sin(row * 7.3)));
    const found = readings.find(({ score }) => score >= SHIPPED_THRESHOLD);
    expect(found?.evidence.trend).toBeGreaterThan(found?.evidence.shift ?? Number.POSITIVE_INFINITY);
    // None of what else is compared would have shown it.
    expect(Math.max(...readings.map(({ evidence: { range, jump } }) => Math.max(range, jump)))).toBeLessThan(1);
  });

  test("that was saved goes on with the same scores", () => {
    const detector = createDetector();
    feed(detector, 0, 1000);
    const restored = restoreDetector(detector.save());
    expect(restored && feed(restored, 1000, 2000)).toEqual(feed(detector, 1000, 2000));
  });

  test("refuses every truncation and every changed byte of its state", () => {
    const bytes = createDetector().save();
    for (let index = 0; index < bytes.length; index += 1) {
      expect(restoreDetector(bytes.subarray(0, index))).toBeNull();
      const changed = Uint8Array.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 0x41;
      expect(restoreDetector(changed)).toBeNull();
    }
  });

  test("learns nothing from values and instants that are not finite", () => {
    const detector = createDetector();
    feed(detector, 0, 500);
    const before = detector.save();
    for (const [at, value] of [[1, NaN], [1, Infinity], [NaN, 1], [-Infinity, 1]] as const) expect(detector.observe(at, value).score).toBe(0);
    expect(detector.save()).toEqual(before);
  });
});
