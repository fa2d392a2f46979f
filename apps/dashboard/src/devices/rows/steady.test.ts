import { expect, test } from "vitest";
import { type AnsweredPage, hold, NOTHING_SHOWN, waitingOf } from "./steady.ts";

const page = (number: number, ids: string, total = ids.length): AnsweredPage<{ readonly id: string }> => ({ page: number, rows: ids.split("").map((id) => ({ id })), total, answeredAtMs: number });
const idsOf = (pages: readonly AnsweredPage<{ readonly id: string }>[]) => pages.map(({ rows }) => rows.map(({ id }) => id).join(""));

test("rows stay where they were first shown, and what is there beside them is counted", () => {
  const shown = hold(NOTHING_SHOWN, [page(0, "abc")]);
  for (const [now, waiting] of [
    ["abc", null], ["zabc", { kind: "new", count: 1 }], ["c", { kind: "gone", count: 2 }], ["bac", { kind: "order" }], ["abz", { kind: "order" }],
  ] as const) {
    const answers = [page(0, now)];
    expect([hold(shown, answers), waitingOf(shown, answers)]).toEqual([shown, waiting]);
  }
  expect(hold(shown, [page(0, "zabc")])).toBe(shown);
});

test("an empty list holds nothing still: the first devices come by themselves", () => {
  const shown = hold(NOTHING_SHOWN, [page(0, "")]);
  expect(shown.total).toBe(0);
  expect(hold(shown, [page(0, "")])).toBe(shown);
  expect(hold(shown, [page(0, "ab")])).toEqual({ total: 2, pages: [page(0, "ab")] });
});

test("a page that is looked at no more is let go, and the total stays", () => {
  const shown = hold(NOTHING_SHOWN, [page(0, "ab", 6), page(1, "cd", 6)]);
  const later = hold(shown, [page(1, "bc", 7), page(2, "de", 7)]);
  expect([idsOf(later.pages), later.total, waitingOf(later, [page(1, "bc", 7), page(2, "de", 7)])]).toEqual([["cd", "de"], 6, { kind: "new", count: 1 }]);
  expect(idsOf(hold(later, [page(0, "za", 7)]).pages)).toEqual(["za"]);
});
