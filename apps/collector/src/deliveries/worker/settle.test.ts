import { describe, expect, test } from "vitest";
import type { AttemptOutcome } from "../sending/attempt.ts";
import { parseRetryAfter } from "./schedule.ts";
import { settle, type Standing } from "./settle.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const healthy: Standing = { active: true, status: "healthy", failingSince: null };
const failing: Standing = { active: true, status: "failing", failingSince: at(0) };
const outcome = (values: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  requestedAt: at(0), arrived: false, statusCode: 500, responseTimeMs: 1, error: "status: 500", excerpt: "", retryAfterMs: null, ...values,
});

describe("an attempt", () => {
  test.each([[1, 30], [2, 120], [3, 600], [4, 3600]])("number %i that fails is followed by another %i s after it began", (
    attempt, seconds
  ) => {
    expect(settle(healthy, attempt, outcome(), NOW + 9000)).toEqual({
      status: "pending", retryAt: at(seconds), standing: healthy, notice: null,
    });
  });

  test("number 5 that fails is the last, and makes the webhook failing", () => {
    expect(settle(healthy, 5, outcome(), NOW)).toEqual({ status: "failed", retryAt: null, standing: failing, notice: "failing" });
    expect(settle(failing, 5, outcome(), NOW + 1000)).toEqual({ status: "failed", retryAt: null, standing: failing, notice: null });
  });

  test("waits as long as the receiver asks where that is longer, from its answer on", () => {
    expect(settle(healthy, 1, outcome({ retryAfterMs: 90_000 }), NOW + 5000).retryAt).toBe(at(95));
    expect(settle(healthy, 1, outcome({ retryAfterMs: 1000 }), NOW + 5000).retryAt).toBe(at(30));
  });

  test("is the only one of a new event while the webhook is failing; what was on its way before goes on", () => {
    expect(settle(failing, 1, outcome(), NOW + 1000)).toEqual({ status: "failed", retryAt: null, standing: failing, notice: null });
    expect(settle(failing, 2, outcome(), NOW + 1000).status).toBe("pending");
  });

  test("that arrives makes a failing webhook healthy", () => {
    expect(settle(failing, 3, outcome({ arrived: true, statusCode: 200, error: null }), NOW)).toEqual({
      status: "delivered", retryAt: null, standing: healthy, notice: null,
    });
  });

  test("that fails after three days of failures deactivates the webhook", () => {
    const day = 86_400_000;
    expect(settle(failing, 1, outcome(), NOW + 3 * day - 1).standing.active).toBe(true);
    expect(settle(failing, 1, outcome(), NOW + 3 * day)).toEqual({
      status: "failed", retryAt: null, standing: { ...failing, active: false }, notice: "deactivated",
    });
  });

  test("that is answered 410 deactivates it at once", () => {
    expect(settle(healthy, 1, outcome({ statusCode: 410 }), NOW)).toEqual({
      status: "failed", retryAt: null, standing: { ...healthy, active: false }, notice: "gone",
    });
  });

  test("is not repeated for an inactive webhook, nor where it cannot help", () => {
    const inactive = { ...healthy, active: false };
    expect(settle(inactive, 1, outcome(), NOW)).toEqual({ status: "failed", retryAt: null, standing: inactive, notice: null });
    expect(settle(healthy, 5, outcome({ isHopeless: true }), NOW)).toEqual({
      status: "failed", retryAt: null, standing: healthy, notice: null,
    });
  });
});

describe("Retry-After", () => {
  test.each([
    ["120", 120_000], [" 5 ", 5000], ["0", 0], ["Thu, 01 Jan 2026 12:01:00 GMT", 60_000], ["Thursday, 01-Jan-26 12:01:00 GMT", 60_000],
    ["Thu, 01 Jan 2026 11:00:00 GMT", 0],
    ["999999999", 86_400_000], ["Fri, 01 Jan 2100 00:00:00 GMT", 86_400_000],
  ])("%j is %i ms", (header, ms) => expect(parseRetryAfter(header, NOW)).toBe(ms));
  test.each([undefined, "", "-1", "1.5", "soon", "1e9", "99999999999999999999", "2026-01-01", "Mon, nonsense"])(
    "%j says nothing", (header) => expect(parseRetryAfter(header, NOW)).toBeNull(),
  );
});
