import { describe, expect, test } from "vitest";
import { createScanRate } from "./scan-rate.ts";

const LIMITS = { first: 20_000, most: 200_000, least: 1000 } as const;

/** Windows of 25 ms in which so many were sent and answered, one after the other. */
function look(
  rate: ReturnType<typeof createScanRate>, windows: readonly (readonly [sent: number, answered: number])[], from: number, dropped = 0,
): number {
  let now = from;
  for (const [sent, answered] of windows) {
    for (let count = 0; count < sent; count += 1) rate.sent();
    for (let count = 0; count < answered; count += 1) rate.answered();
    rate.look(now += 25, () => dropped);
  }
  return now;
}

/** Windows in which hardly anybody answers, with the outcomes of 40 loss probes in each, so many of them lost. */
function controlled(
  rate: ReturnType<typeof createScanRate>,
  { windows, from, lost }: { readonly windows: number; readonly from: number; readonly lost: number },
): number {
  let now = from;
  for (let window = 0; window < windows; window += 1) {
    for (let probe = 0; probe < 40; probe += 1) rate.noteLossProbe(now, probe >= lost);
    now = look(rate, [[1000, 2]], now);
  }
  return now;
}

describe("the rate of a scan", () => {
  test("rises to the most while all answer, and falls when many fewer do", () => {
    const rate = createScanRate(LIMITS);
    const at = look(rate, Array.from({ length: 12 }, () => [1000, 1000] as const), 0);
    expect(rate.framesPerSecond).toBeGreaterThan(150_000);
    look(rate, Array.from({ length: 12 }, () => [1000, 500] as const), at);
    expect(rate.framesPerSecond).toBeLessThan(130_000);
  });

  test("does not fall where somebody is busy for a moment, and answers late and all at once", () => {
    const rate = createScanRate(LIMITS);
    const at = look(rate, Array.from({ length: 12 }, () => [1000, 1000] as const), 0);
    const before = rate.framesPerSecond;
    look(rate, [[1000, 0], [1000, 0], [1000, 3000], [1000, 1000], [1000, 1000]], at);
    expect(rate.framesPerSecond).toBeGreaterThanOrEqual(before);
  });

  test("waits within a tenth of a second when nobody answers any more, and falls when nobody has answered a tenth later", () => {
    const rate = createScanRate(LIMITS);
    let at = look(rate, Array.from({ length: 12 }, () => [1000, 1000] as const), 0);
    const before = rate.framesPerSecond;
    at = look(rate, Array.from({ length: 3 }, () => [1000, 0] as const), at);
    expect([rate.isWaiting, rate.framesPerSecond]).toEqual([true, before]);
    look(rate, Array.from({ length: 4 }, () => [0, 0] as const), at);
    expect([rate.isWaiting, rate.framesPerSecond < 130_000]).toEqual([false, true]);
  });

  test("goes on as before when missing answers were only late", () => {
    const rate = createScanRate(LIMITS);
    let at = look(rate, Array.from({ length: 12 }, () => [1000, 1000] as const), 0);
    const before = rate.framesPerSecond;
    at = look(rate, [[1000, 0], [1000, 0], [1000, 0], [0, 0], [0, 0], [0, 3000]], at);
    expect([rate.isWaiting, rate.framesPerSecond]).toEqual([false, before]);
    look(rate, Array.from({ length: 12 }, () => [1000, 1000] as const), at);
    expect([rate.isWaiting, rate.framesPerSecond]).toEqual([false, LIMITS.most]);
  });

  test("does not wait for those that stayed silent when others are asked", () => {
    const rate = createScanRate(LIMITS);
    const at = look(rate, Array.from({ length: 12 }, () => [1000, 1000] as const), 0);
    look(rate, Array.from({ length: 3 }, () => [1000, 0] as const), at);
    rate.askOthers();
    expect(rate.isWaiting).toBe(false);
  });

  test("falls at once when frames found no room, also while it waits", () => {
    const rate = createScanRate(LIMITS);
    let at = look(rate, Array.from({ length: 12 }, () => [1000, 1000] as const), 0);
    at = look(rate, Array.from({ length: 3 }, () => [1000, 0] as const), at);
    look(rate, [[0, 0]], at, 1);
    expect([rate.isWaiting, rate.framesPerSecond < 130_000]).toEqual([false, true]);
  });

  test("does not take the answers that came in one burst for what is usual", () => {
    const rate = createScanRate(LIMITS);
    const steady = Array.from({ length: 8 }, () => [4000, 64] as const);
    const at = look(rate, [...steady, [4000, 0], [400, 100], ...steady, ...steady], 0);
    look(rate, steady, at);
    expect(rate.framesPerSecond).toBe(LIMITS.most / 2);
  });

  test("does not fall where few answer, and some fewer by chance", () => {
    const rate = createScanRate(LIMITS);
    const at = look(rate, Array.from({ length: 6 }, () => [200, 14] as const), 0);
    const before = rate.framesPerSecond;
    look(rate, [[200, 9], [200, 8], [200, 12]], at);
    expect(rate.framesPerSecond).toBeGreaterThanOrEqual(before);
  });

  test("does not fall when those that stayed silent are asked again", () => {
    const rate = createScanRate(LIMITS);
    const at = look(rate, Array.from({ length: 6 }, () => [1000, 800] as const), 0);
    const before = rate.framesPerSecond;
    rate.askOthers();
    look(rate, [[1000, 0], [1000, 0], [1000, 0]], at);
    expect(rate.framesPerSecond).toBeGreaterThan(Math.min(before, LIMITS.most / 2) * 0.99);
  });

  test("never exceeds the most, where that is below the first", () => {
    const rate = createScanRate({ first: 1000, most: 12, least: 50 });
    for (let round = 0; round < 200; round += 1) {
      look(rate, [[round % 3, round % 2]], round * 25);
      expect(rate.framesPerSecond).toBeLessThanOrEqual(12);
    }
    expect(rate.framesPerSecond).toBe(12);
  });

  test("falls when frames found no room, and never below the least", () => {
    const rate = createScanRate(LIMITS);
    look(rate, Array.from({ length: 60 }, () => [100, 0] as const), 0, 5);
    expect(rate.framesPerSecond).toBe(LIMITS.least);
  });

  test("reaches the most where hardly anybody answers only when loss probes say that nothing is lost", () => {
    const silence = Array.from({ length: 12 }, () => [1000, 2] as const);
    const blind = createScanRate(LIMITS);
    look(blind, silence, 0);
    expect([blind.isBlind, blind.framesPerSecond]).toEqual([true, LIMITS.most / 2]);
    const published = createScanRate(LIMITS);
    const at = controlled(published, { windows: 12, from: 0, lost: 0 });
    expect(published.framesPerSecond).toBe(LIMITS.most);
    // Nothing is known any more half a second after the last of them.
    look(published, Array.from({ length: 25 }, () => [1000, 2] as const), at);
    expect(published.framesPerSecond).toBe(LIMITS.most / 2);
  });

  test("falls when loss probes are lost, and not again for those that were asked before it fell", () => {
    const rate = createScanRate(LIMITS);
    const at = controlled(rate, { windows: 12, from: 0, lost: 0 });
    const after = controlled(rate, { windows: 1, from: at, lost: 8 });
    const fallen = rate.framesPerSecond;
    expect(fallen).toBeLessThan(LIMITS.most * 0.7);
    for (let count = 0; count < 100; count += 1) rate.noteLossProbe(at, false);
    look(rate, [[1000, 2]], after);
    expect(rate.framesPerSecond).toBeGreaterThanOrEqual(fallen);
  });
});
