import type { Acknowledgement } from "@lanthorn/contract/uplink";
import { toInstant } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createClockOffset } from "./clock-offset.ts";

const NOON = Date.UTC(2026, 0, 1, 12);

/** An exchange with a collector whose clock is `ahead`, with these times on the way and there. */
function exchange(at: number, ahead: number, there: number, busy: number, back: number) {
  const ack = {
    batch_sent_at: toInstant(at), received_at: toInstant(at + there + ahead), sent_at: toInstant(at + there + busy + ahead),
  } as Acknowledgement;
  return [ack, at + there + busy + back, there + busy + back] as const;
}

describe("the clock offset", () => {
  test("is exact where both ways take as long, however long the collector worked", () => {
    const offset = createClockOffset(() => 0);
    offset.addSample(...exchange(NOON, 5000, 20, 700, 20));
    expect(offset.offsetMs(0)).toBe(5000);
  });

  test("believes the exchange with the shortest way", () => {
    const offset = createClockOffset(() => 0);
    offset.addSample(...exchange(NOON, -3000, 400, 5, 10));
    offset.addSample(...exchange(NOON + 1000, -3000, 5, 5, 5));
    offset.addSample(...exchange(NOON + 2000, -3000, 10, 5, 800));
    expect(offset.offsetMs(0)).toBe(-3000);
  });

  test("begins anew when our own clock was set", () => {
    const offset = createClockOffset(() => 0);
    offset.addSample(...exchange(NOON, 5000, 1, 1, 1));
    const [ack, receivedAt, took] = exchange(NOON, 5000, 1, 1, 1);
    offset.addSample(ack, receivedAt + 60_000, took);
    expect(offset.offsetMs(0)).toBeNull();
  });

  test("is unknown before the first exchange, and when the last one is long ago", () => {
    const offset = createClockOffset(() => 1000);
    expect(offset.offsetMs(0)).toBeNull();
    offset.addSample(...exchange(NOON, 1, 1, 1, 1));
    expect(offset.offsetMs(2000)).toBe(1);
    expect(offset.offsetMs(1000 + 16 * 60_000)).toBeNull();
  });
});
