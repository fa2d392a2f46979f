import { describe, expect, test } from "vitest";
import { createControls } from "./controls.ts";

function make() {
  const outcomes: (readonly [askedAt: number, isAnswered: boolean])[] = [];
  const controls = createControls({ patienceMs: 100, onOutcome: (...outcome) => void outcomes.push(outcome) });
  return { controls, outcomes };
}

describe("controls", () => {
  test("ask whom has answered, in turns, and nobody again within 20 ms", () => {
    const { controls } = make();
    expect(controls.next(0)).toBeNull();
    controls.note(3, 22, true);
    controls.note(5, 80, true);
    expect(new Set([controls.next(1)?.host, controls.next(1)?.host])).toEqual(new Set([3, 5]));
    for (const [host, port] of [[3, 22], [5, 80]] as const) controls.answered(host, port);
    expect([controls.next(20), controls.next(21)].map((control) => control?.port ?? null)).toEqual([null, expect.any(Number)]);
  });

  test("tell what was answered, once, and what was lost when its time is over", () => {
    const { controls, outcomes } = make();
    controls.note(3, 22, true);
    controls.next(10);
    controls.answered(3, 23);
    controls.answered(4, 22);
    controls.answered(3, 22);
    controls.answered(3, 22);
    expect(outcomes).toEqual([[10, true]]);
    controls.next(40);
    expect([controls.next(139), outcomes.length]).toEqual([null, 1]);
    expect([controls.next(140)?.host, outcomes[1]]).toEqual([3, [40, false]]);
  });

  test("prefer an open port to the closed one that answered first", () => {
    const { controls } = make();
    controls.note(3, 1, false);
    controls.note(3, 2, false);
    expect(controls.next(0)?.port).toBe(1);
    controls.answered(3, 1);
    controls.note(3, 22, true);
    controls.note(3, 23, true);
    expect(controls.next(50)?.port).toBe(22);
  });
});
