import { expect, test } from "vitest";
import * as z from "zod";
import { choiceQuery, isOpenChoice } from "./choice.ts";

const words = choiceQuery(z.string().max(20), { description: "Words.", examples: ["a,b"] });
const colors = choiceQuery(z.enum(["red", "blue"]), { description: "Colors.", examples: ["red"] });

test.each([
  ["Cisco", ["Cisco"], []], ["Cisco,Aruba", ["Cisco", "Aruba"], []], ["!Cisco", [], ["Cisco"]], ["a, !b , c", ["a", "c"], ["b"]],
  [String.raw`Cisco Systems\, Inc`, ["Cisco Systems, Inc"], []], [String.raw`\!x,!\!y`, ["!x"], ["!y"]], ["a\\\\,b", ["a\\", "b"], []],
  [String.raw`a\b`, [String.raw`a\b`], []], ["", [], []], ["  ", [], []], ["a!b", ["a!b"], []],
])("%j is any of %j and none of %j", (text, any, none) => {
  expect(words.parse(text)).toEqual({ any, none });
});

test.each(["a,,b", ",a", "a,", "!", "a,!", "x".repeat(21), Array.from({ length: 51 }, () => "a").join(","), "a".repeat(2001)])(
  "%j is refused", (text) => {
    expect(words.safeParse(text).success).toBe(false);
  },
);

test("each value is what its own schema says", () => {
  expect(colors.parse("red,!blue")).toEqual({ any: ["red"], none: ["blue"] });
  expect(colors.safeParse("red,green").success).toBe(false);
  expect([isOpenChoice(undefined), isOpenChoice(colors.parse("")), isOpenChoice(colors.parse("!red"))]).toEqual([true, true, false]);
});

test("a long text of separators and backslashes is read in time that grows with its length", () => {
  for (const text of ["\\".repeat(2000), ",".repeat(2000), "!".repeat(2000)]) expect(words.safeParse(text).success).toBe(false);
});
