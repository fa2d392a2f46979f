import { createFakeClock } from "@lanthorn/runtime";
import { beforeEach, describe, expect, test } from "vitest";
import { createSendTimer } from "./send-timer.ts";

describe("the timer of the next batch", () => {
  let due: number;
  let timeouts: number[];
  beforeEach(() => {
    due = 0;
    timeouts = [];
  });
  const open = (clock = createFakeClock()) => ({
    clock,
    timer: createSendTimer({ clock, random: () => 0.5, onDue: () => void (due += 1), onTimeout: (waitedMs) => timeouts.push(waitedMs) }),
  });

  test("gathers a burst into one batch", async () => {
    const { clock, timer } = open();
    timer.gather();
    await clock.advance(40);
    timer.gather();
    expect({ due, isSet: timer.isSet }).toEqual({ due: 0, isSet: true });
    await clock.advance(10);
    expect({ due, isSet: timer.isSet }).toEqual({ due: 1, isSet: false });
  });

  test("waits twice as long for each acknowledgement that does not come, up to a minute, until one comes", async () => {
    const { clock, timer } = open();
    for (let tries = 0; tries < 4; tries += 1) {
      timer.expectAcknowledgement();
      await clock.advance(60_000);
    }
    expect(timeouts).toEqual([15_000, 30_000, 60_000, 60_000]);
    timer.reset();
    timer.expectAcknowledgement();
    await clock.advance(15_000);
    expect(timeouts.at(-1)).toBe(15_000);
  });

  test("runs one timer at a time, and none after it was stopped", async () => {
    const { clock, timer } = open();
    timer.expectAcknowledgement();
    timer.pause();
    await clock.advance(120_000);
    expect({ due, timeouts }).toEqual({ due: 1, timeouts: [] });
    timer.gather();
    timer.stop();
    await clock.advance(120_000);
    expect({ due, isSet: timer.isSet }).toEqual({ due: 1, isSet: false });
  });
});
