import { describe, expect, test } from "vitest";
import { compileExpression } from "./compile-expression.ts";
import type { PcreFlags } from "../rules/transform.ts";

const FLAGS: PcreFlags = { ignoreCase: false, dotAll: false, multiline: false, extended: false, anchored: false, dollarEndOnly: false, ungreedy: false };

function placesOf(source: string, flags: Partial<PcreFlags>, text: string, from = 0): readonly [number, number] | null {
  const compiled = compileExpression(source, { ...FLAGS, ...flags });
  if (!compiled.ok) throw new Error(compiled.reason);
  const match = compiled.expression.find(Uint8Array.from(text, (letter) => letter.charCodeAt(0)), from, { left: 100_000 });
  return match && [match.index, match.end];
}

describe("an expression of a rule", () => {
  test.each<readonly [string, Partial<PcreFlags>, string, readonly [number, number] | null]>([
    ["a$", {}, "ba\n", [1, 2]],
    ["a$", { dollarEndOnly: true }, "ba\n", null],
    ["^b", {}, "a\nb", null],
    ["^b", { multiline: true }, "a\nb", [2, 3]],
    ["a.b", {}, "a\nb", null],
    ["a.b", { dotAll: true }, "a\nb", [0, 3]],
    ["a b # c", { extended: true }, "ab", [0, 2]],
    ["ab", { ignoreCase: true }, "AB", [0, 2]],
    ["b", { anchored: true }, "ab", null],
    ["a", { anchored: true }, "ab", [0, 1]],
    ["a+", { ungreedy: true }, "aaa", [0, 1]],
    ["a+?", { ungreedy: true }, "aaa", [0, 3]],
    ["a{1,2}", { ungreedy: true }, "aaa", [0, 1]],
    ["\\xe4[\\x80-\\xff]{2}", {}, "\xe4\xbd\xa0", [0, 3]],
    // Letters beyond ASCII have one case.
    ["\\xe4", { ignoreCase: true }, "\xc4", null],
    ["\\w", {}, "\xe4", null],
    ["(?>a+)ab|\\x61\\Z", {}, "aaab\na", [5, 6]],
    ["(['\"])x\\1", {}, "'x\" \"x\"", [4, 7]],
    ["a\\/\\;\\:", {}, "a/;:", [0, 4]],
  ])("matches as PCRE does: %j %j on %j", (source, flags, text, expected) => {
    expect(placesOf(source, flags, text)).toEqual(expected);
  });

  test("is searched for from a place, where its anchor holds", () => {
    expect(placesOf("a", {}, "aba", 1)).toEqual([2, 3]);
    expect(placesOf("a", { anchored: true }, "aba", 2)).toEqual([2, 3]);
    expect(placesOf("^a", {}, "aa", 1)).toBeNull();
  });

  test("says what bounds it, and why it is refused", () => {
    expect(compileExpression("(a+)+$", FLAGS)).toMatchObject({ ok: true, expression: { matcher: "linear" } });
    expect(compileExpression("(a)\\1", FLAGS)).toMatchObject({ ok: true, expression: { matcher: "budgeted" } });
    for (const source of ["(", "a{3,2}", "(?R)", "\\p{L}", "(?:(?:(?:a{100}){100}){100})"]) {
      expect(compileExpression(source, FLAGS)).toMatchObject({ ok: false });
    }
  });
});
