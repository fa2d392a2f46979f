import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { createLearnedStore } from "./learned-store.ts";
import { createLearningPeriod } from "./learning-period.ts";

const MINUTE = 60_000;

/** A probe whose clocks the test sets. */
function createProbe() {
  const db = new Database(":memory:");
  const time = { wall: 0, monotonic: 0 };
  const start = () => {
    const store = createLearnedStore(db);
    const period = createLearningPeriod({ store, clock: { now: () => time.wall, monotonic: () => time.monotonic }, minutes: () => 60 });
    return { store, period };
  };
  return { db, time, start };
}

test.each([["forward, as where a machine has no clock of its own", 50 * 365 * 24 * 60 * MINUTE], ["back", -50 * 365 * 24 * 60 * MINUTE]])("a clock that is set %s changes nothing", (_, jump) => {
  const { time, start } = createProbe();
  const { period } = start();
  expect(period.isOn()).toBe(true);
  time.wall += jump;
  time.monotonic += 59 * MINUTE;
  expect(period.isOn()).toBe(true);
  time.monotonic += MINUTE;
  expect(period.isOn()).toBe(false);
});

test("after a restart it goes on where it was, and when it is over it stays over", () => {
  const { time, start } = createProbe();
  const first = start();
  expect(first.period.knownEnd()).toBeNull();
  for (let minute = 0; minute < 40; minute += 1) {
    expect(first.period.isOn()).toBe(true);
    time.monotonic += MINUTE;
    time.wall += MINUTE;
  }
  first.store.flush();
  time.monotonic = 5;
  const second = start();
  expect(second.period.knownEnd()).toBe(time.wall + 21 * MINUTE);
  expect(second.period.isOn()).toBe(true);
  time.monotonic += 21 * MINUTE;
  expect(second.period.isOn()).toBe(false);
  second.store.flush();
  expect(start().period.isOn()).toBe(false);
});

test("it passes where nothing asks for it, too", () => {
  const { time, start } = createProbe();
  const first = start();
  first.period.tick();
  expect(first.period.knownEnd()).toBeNull();
  expect(first.period.isOn()).toBe(true);
  for (let at = 0; at <= 61 * MINUTE; at += 2000) {
    time.monotonic = at;
    first.period.tick();
  }
  first.store.flush();
  expect(start().period.isOn()).toBe(false);
});

test("one that an earlier version began goes on, and begins anew upon the command", () => {
  const { db, time, start } = createProbe();
  time.wall = 1e12;
  const { store } = start();
  store.put("period", "began_at", time.wall - 50 * MINUTE);
  store.flush();
  const { period } = start();
  expect(period.endsAt()).toBe(time.wall + 10 * MINUTE);
  period.restart();
  expect(period.endsAt()).toBe(time.wall + 60 * MINUTE);
  db.close();
});
