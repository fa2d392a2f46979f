import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createRenewalSchedule } from "./renewal-schedule.ts";

const DAY_MS = 86_400_000;

function follow(options: { readonly fails?: () => boolean } = {}) {
  const clock = createFakeClock();
  let lifetime = { from: clock.now(), to: clock.now() + 90 * DAY_MS };
  const attempts: number[] = [];
  let renewals = 0;
  const schedule = createRenewalSchedule({
    clock, random: () => 1, log: silentLog,
    lifetime: () => lifetime,
    async renew() {
      attempts.push(clock.now());
      if (options.fails?.()) throw new Error("unreachable");
      lifetime = { from: clock.now(), to: clock.now() + 90 * DAY_MS };
    },
    onRenewed: () => { renewals += 1; },
  });
  return { clock, attempts, renewals: () => renewals, close: () => schedule.close() };
}

test("a certificate is renewed when two thirds of its life are over, again and again", async () => {
  const { clock, attempts, renewals, close } = follow();
  await clock.advance(59 * DAY_MS);
  expect(attempts).toHaveLength(0);
  await clock.advance(2 * DAY_MS);
  expect(renewals()).toBe(1);
  await clock.advance(61 * DAY_MS);
  expect(renewals()).toBe(2);
  close();
});

test("a renewal that fails is tried again at growing intervals, several times a day", async () => {
  let failing = true;
  const { clock, attempts, renewals, close } = follow({ fails: () => failing });
  await clock.advance(62 * DAY_MS);
  expect(attempts.length).toBeGreaterThan(10);
  const pauses = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
  expect(pauses[0]).toBeLessThanOrEqual(3 * 60_000);
  expect(Math.max(...pauses)).toBeLessThan(0.3 * DAY_MS);
  failing = false;
  await clock.advance(DAY_MS);
  expect(renewals()).toBe(1);
  close();
});

test("nothing happens after the schedule is closed", async () => {
  const { clock, attempts, close } = follow();
  close();
  await clock.advance(100 * DAY_MS);
  expect(attempts).toHaveLength(0);
});
