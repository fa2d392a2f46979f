import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Threshold } from "../rules/rule.ts";
import type { FlowNumber, HostBit } from "../rules/state-condition.ts";
import { changeFlowBit, changeFlowNumber, createFlowMemory, holdsFlowBit, holdsFlowNumber } from "./flow-memory.ts";
import { createHostBits } from "./host-bits.ts";
import { createThresholds } from "./thresholds.ts";
import { trackKey } from "./track-key.ts";

const ENDS = { source: "192.0.2.1", destination: "192.0.2.9", flow: "7" };
const BACK = { source: "192.0.2.9", destination: "192.0.2.1", flow: "7" };
const SECOND = 1_000_000;

function threshold(kind: Threshold["kind"], count: number, seconds = 10): Threshold {
  return { kind, track: "source", count, seconds, multiplier: 0 };
}

/** The answers to matches at these seconds, by their first letter. */
function answersOf(rule: Threshold, atSeconds: readonly number[]): string {
  const thresholds = createThresholds();
  return atSeconds.map((at) => thresholds.apply(rule, { rule: 1, ends: ENDS, atMicroseconds: at * SECOND })[0]).join("");
}

describe("a threshold", () => {
  test.each<readonly [Threshold, readonly number[], string]>([
    [threshold("limit", 2), [0, 1, 2, 10, 10.1, 11, 12], "aassaas"],
    [threshold("threshold", 3), [0, 1, 2, 3, 4, 5, 6], "nnannan"],
    [threshold("threshold", 3), [0, 1, 11, 12, 13], "nnnna"],
    [threshold("threshold", 1), [0, 0, 1], "aaa"],
    [threshold("both", 2), [0, 1, 2, 3, 11, 12, 13], "nassnas"],
    [threshold("both", 1), [0, 1, 11], "asa"],
    [threshold("limit", 1), [100, 95, 105, 20, 25], "assas"],
    [{ ...threshold("backoff", 1, 0), multiplier: 10 }, [0, ...Array.from({ length: 10 }, (_, at) => at)], "assssssssas"],
  ])("gives some of many matches: %j at %j", (rule, atSeconds, expected) => {
    expect(answersOf(rule, atSeconds)).toBe(expected);
  });

  test("counts for each rule and each end that it names", () => {
    const thresholds = createThresholds();
    const apply = (rule: number, ends: typeof ENDS, track: Threshold["track"]) =>
      thresholds.apply({ ...threshold("limit", 1), track }, { rule, ends, atMicroseconds: 0 });
    expect([apply(1, ENDS, "source"), apply(1, ENDS, "source"), apply(2, ENDS, "source"), apply(1, BACK, "source")]).toEqual(["alert", "silent", "alert", "alert"]);
    expect([apply(3, ENDS, "rule"), apply(3, BACK, "rule"), apply(4, ENDS, "flow"), apply(4, BACK, "flow")]).toEqual(["alert", "silent", "alert", "silent"]);
  });

  test("as a detection filter lets matches through once there were enough", () => {
    const thresholds = createThresholds();
    const passes = (at: number) => thresholds.filter({ track: "destination", count: 2, seconds: 5 }, { rule: 1, ends: ENDS, atMicroseconds: at * SECOND });
    expect([0, 1, 2, 3, 6, 7, 8].map(passes)).toEqual([false, false, true, true, false, false, true]);
  });

  test("keeps no more counts than it may, whoever sends", () => {
    const thresholds = createThresholds(100);
    fc.assert(fc.property(fc.nat(100_000), fc.nat(1000), (host, at) => {
      thresholds.apply(threshold("limit", 1), { rule: 1, ends: { ...ENDS, source: String(host) }, atMicroseconds: at * SECOND });
      expect(thresholds.size()).toBeLessThanOrEqual(100);
    }), { numRuns: 2000 });
    expect(thresholds.evicted()).toBeGreaterThan(1000);
  });
});

describe("bits of flows", () => {
  test("are set, asked for, turned and taken away", () => {
    const memory = createFlowMemory();
    const bit = (operation: Parameters<typeof holdsFlowBit>[0]["operation"], ...names: string[]) => ({ kind: "flow-bit", operation, names }) as const;
    expect([holdsFlowBit(bit("is-set", "a"), null), holdsFlowBit(bit("is-not-set", "a"), null), holdsFlowBit(bit("set", "a"), null)]).toEqual([false, true, true]);
    changeFlowBit(bit("set", "a"), memory);
    expect([holdsFlowBit(bit("is-set", "b", "a"), memory), holdsFlowBit(bit("is-set", "b"), memory), holdsFlowBit(bit("is-not-set", "a"), memory)]).toEqual([true, false, false]);
    changeFlowBit(bit("toggle", "a", "b"), memory);
    expect([...memory.bits]).toEqual(["b"]);
    changeFlowBit(bit("unset", "b"), memory);
    expect([...memory.bits]).toEqual([]);
  });
});

describe("numbers of flows", () => {
  const number = (operation: FlowNumber["operation"], value: FlowNumber["value"] = null, name = "n"): FlowNumber => ({ kind: "flow-number", name, operation, value });

  test("are counted from nothing, compared, and wrap at 32 bits", () => {
    const memory = createFlowMemory();
    expect([holdsFlowNumber(number("<", 5), memory), holdsFlowNumber(number("is-not-set"), null), holdsFlowNumber(number("add", 1), null)]).toEqual([false, true, true]);
    changeFlowNumber(number("subtract", 1), memory);
    expect(holdsFlowNumber(number("is-set"), memory)).toBe(false);
    changeFlowNumber(number("add", 3), memory);
    changeFlowNumber(number("set", "n", "m"), memory);
    changeFlowNumber(number("add", "m"), memory);
    expect([holdsFlowNumber(number("=", 6), memory), holdsFlowNumber(number(">", "m"), memory), holdsFlowNumber(number("=", "nobody"), memory)]).toEqual([true, true, false]);
    changeFlowNumber(number("subtract", 7), memory);
    expect(memory.numbers.get("n")).toBe(0xffff_ffff);
  });
});

describe("bits of hosts", () => {
  const bit = (operation: HostBit["operation"], track: HostBit["track"] = "source", seconds = 10): HostBit => ({ kind: "host-bit", operation, name: "x", track, seconds });

  test("are found of the host, whichever end it is, until their time is over", () => {
    const bits = createHostBits();
    bits.change(bit("set"), ENDS, 0);
    expect([bits.holds(bit("is-set"), ENDS, SECOND), bits.holds(bit("is-set", "destination"), BACK, SECOND), bits.holds(bit("is-set"), BACK, SECOND)]).toEqual([true, true, false]);
    expect([bits.holds(bit("is-not-set"), ENDS, 11 * SECOND), bits.size()]).toEqual([true, 0]);
    bits.change(bit("toggle", "pair", 0), ENDS, 0);
    expect(bits.holds(bit("is-set", "pair"), BACK, 10 ** 12)).toBe(true);
    bits.change(bit("toggle", "pair"), BACK, 1);
    expect(bits.holds(bit("is-set", "pair"), ENDS, 1)).toBe(false);
    bits.change(bit("unset"), ENDS, 1);
    expect(bits.size()).toBe(0);
  });

  test("are no more than they may be", () => {
    const bits = createHostBits(10);
    for (let host = 0; host < 1000; host += 1) bits.change(bit("set"), { ...ENDS, source: String(host) }, 0);
    expect([bits.size(), bits.evicted(), bits.holds(bit("is-set"), { ...ENDS, source: "999" }, 0)]).toEqual([10, 990, true]);
  });
});

test("what is counted together has one key", () => {
  expect(trackKey("pair", ENDS)).toBe(trackKey("pair", BACK));
  expect(trackKey("both", ENDS)).not.toBe(trackKey("both", BACK));
});
