import { seededRandom } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import {
  ANSWER_WAIT_MS,
  CHECK_AFTER_MS,
  createWatch,
  endPoll,
  isGone,
  missesNeeded,
  notePolled,
  noteSeen,
  startAnew,
  type Watch,
} from "./presence.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Asks as the checks do, each second, until it is gone or the time is over. `answers` says whether question `n` is answered. */
function live(watch: Watch, from: number, to: number, answers: (question: number) => boolean): number | null {
  let questions = 0;
  for (let now = from; now < to; now += 1000) {
    if (watch.askedAt !== null && answers(questions)) noteSeen(watch, now);
    else if (endPoll(watch, now, true) && isGone(watch, now, missesNeeded(watch))) return now;
    if (watch.askedAt === null && now - watch.silentFrom >= CHECK_AFTER_MS) {
      questions += 1;
      notePolled(watch, now);
    }
  }
  return null;
}

/** How many of so many phones, each of which answers one question in three, are taken for gone. */
function lostPhones({ phones, forMs }: { readonly phones: number; readonly forMs: number }): number {
  let lost = 0;
  for (let phone = 1; phone <= phones; phone += 1) {
    const random = seededRandom(phone * 7919);
    const watch = createWatch(0);
    noteSeen(watch, 0);
    let question = 0;
    let answered = false;
    const answers = (n: number) => {
      if (n !== question) [question, answered] = [n, random(3) === 0];
      return answered;
    };
    if (live(watch, 0, forMs, answers) !== null) lost += 1;
  }
  return lost;
}

describe("presence", () => {
  test("is lost by a host that always answered two minutes after its last word, not before, and soon after", () => {
    const watch = createWatch(0);
    noteSeen(watch, 0);
    expect(live(watch, 0, 3_600_000, () => true)).toBeNull();
    const leftAt = watch.seenAt;
    const goneAt = live(watch, leftAt, leftAt + 600_000, () => false);
    expect(goneAt).not.toBeNull();
    expect((goneAt as number) - leftAt).toBeGreaterThanOrEqual(120_000);
    expect((goneAt as number) - leftAt).toBeLessThanOrEqual(126_000);
    expect(watch.misses).toBeGreaterThanOrEqual(3);
  });

  test("is lost by a newcomer that was never asked within three minutes", () => {
    const watch = createWatch(0);
    noteSeen(watch, 0);
    const goneAt = live(watch, 0, 600_000, () => false) as number;
    expect(goneAt).toBeGreaterThanOrEqual(120_000);
    expect(goneAt).toBeLessThanOrEqual(180_000);
  });

  test("is kept by a hundred phones that answer one question in three, for a day each", () => {
    expect(lostPhones({ phones: 100, forMs: DAY_MS })).toBe(0);
  });

  test("is kept by thousands of such phones in their first hour, but for one that is nearly never heard", () => {
    expect(lostPhones({ phones: 10_000, forMs: HOUR_MS })).toBeLessThanOrEqual(1);
  });

  test("is not lost by silence alone while no question could be sent", () => {
    const watch = createWatch(0);
    noteSeen(watch, 0);
    expect(isGone(watch, DAY_MS, missesNeeded(watch))).toBe(false);
  });

  test("does not count a question that ended while the link was down", () => {
    const watch = createWatch(0);
    notePolled(watch, 0);
    expect(endPoll(watch, ANSWER_WAIT_MS - 1, true)).toBe(false);
    expect(endPoll(watch, ANSWER_WAIT_MS, false)).toBe(true);
    expect(watch.misses).toBe(0);
  });

  test("starts anew after a suspension: neither the misses nor the time before it count", () => {
    const watch = createWatch(0);
    for (let miss = 0; miss < 60; miss += 1) {
      notePolled(watch, miss * ANSWER_WAIT_MS);
      endPoll(watch, (miss + 1) * ANSWER_WAIT_MS, true);
    }
    startAnew(watch, 400_000);
    expect(watch.misses).toBe(0);
    expect(isGone(watch, 400_000 + 119_999, 0)).toBe(false);
    expect(isGone(watch, 400_000 + 120_000, 0)).toBe(true);
  });

  test("needs fewer misses the better a host answers, and never fewer than three nor more than sixty", () => {
    const needed = [
      [0, 60],
      [20, 60],
      [60, 60],
      [100_000, 100_000],
    ].map(([answered, asked]) => missesNeeded(createWatch(0, { asked: asked as number, answered: answered as number })));
    expect(needed[0]).toBe(60);
    expect(needed[1]).toBeGreaterThan(35);
    expect(needed[2]).toBeLessThan(7);
    expect(needed[3]).toBe(3);
  });
});
