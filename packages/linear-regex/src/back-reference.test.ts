import { spawnSync } from "node:child_process";
import { seededRandom } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { compileRegex } from "./regex.ts";

function placesOf(pattern: string, text: string, budget = { left: 1_000_000 }): readonly (number | string | undefined)[] | null {
  const compiled = compileRegex(pattern, { syntax: "pcre" });
  if (!compiled.ok) throw new Error(`${pattern}: ${compiled.reason}`);
  const match = compiled.regex.exec(text, budget);
  return match && [match.index, match.end, ...match.groups.slice(1)];
}

describe("a back-reference", () => {
  test.each([
    ["(a|b)\\1", "abb", [1, 3, "b"]],
    ["(?P<one>\\w+)-(?P=one)", "x-ab-ab", [2, 7, "ab"]],
    ["(?<n>.)\\k<n>\\k{n}\\k'n'\\g{n}", "abbbbb", [1, 6, "b"]],
    ["(a)(b)\\g{-1}\\g{-2}\\g1", "abbaa", [0, 5, "a", "b"]],
    // A group that took no part is behind nothing.
    ["(a)?\\1b", "b", null],
    ["(?i)(ab)\\1", "aBAb", [0, 4, "aB"]],
    ["(ab)(?i)\\1", "abAB", [0, 4, "ab"]],
    ["(a*)*\\1b", "aab", [0, 3, ""]],
    ["(?=(a+))\\1b", "aab", [0, 3, "aa"]],
    ["(?:(a)|b)*\\1", "aba", [0, 3, "a"]],
    ["(a)\\12", "a\n", [0, 2, "a"]],
  ])("takes what its group took: %j on %j", (pattern, text, expected) => {
    expect(placesOf(pattern, text)).toEqual(expected);
  });

  test("ends with its budget, where it would go on for years", () => {
    const budget = { left: 100_000 };
    expect(placesOf("^(a*)*\\1(a|a)*(a|aa)*$", `${"a".repeat(4000)}b`, budget)).toBeNull();
    expect(budget.left).toBeLessThanOrEqual(0);
    expect(budget.left).toBeGreaterThan(-10_000);
  });

  test("is found from a place on, which looks back over it", () => {
    const compiled = compileRegex("(?<=a)(b)\\1|^x", { syntax: "pcre" });
    if (!compiled.ok) throw new Error(compiled.reason);
    expect(compiled.regex.isBudgeted).toBe(true);
    expect(compiled.regex.exec("abbabb", { left: 1000 }, 2)?.index).toBe(4);
    expect(compiled.regex.exec("axx", { left: 1000 }, 1)).toBeNull();
  });
});

function randomPattern(random: (limit: number) => number, depth: number): string {
  const inner = () => randomPattern(random, depth - 1);
  const pick = (texts: readonly string[]) => texts[random(texts.length)] ?? "";
  switch (random(depth <= 0 ? 2 : 7)) {
    case 0:
      return pick(["a", "b", "[ab]", "."]);
    case 1:
      return pick(["\\1", "\\2", "\\1", "a"]);
    case 2:
    case 3:
      return inner() + inner();
    case 4:
      return `(?:${inner()}|${inner()})`;
    case 5:
      return `(?${pick(["=", "!", ">"])}${inner()})`;
    default:
      return `(?:${inner()}[ab])${pick(["*", "+", "?", "*?", "+?", "{1,2}"])}`;
  }
}

const PERL = String.raw`while (<STDIN>) { chomp; my ($p, $t) = split /\t/, $_, -1; print(($t =~ /$p/ ? join(",", $-[0], $+[0], map { $_ // "-" } $1, $2) : "none") . "\n"); }`;
const hasPerl = spawnSync("perl", ["-v"]).status === 0;

test.skipIf(!hasPerl)("random patterns with back-references match as in Perl", () => {
  const random = seededRandom(11);
  const cases = Array.from({ length: 6_000 }, () => ({
    pattern: `${["(a|b)(b?)", "(.*)(.)", "(?:(a)|(b))+"][random(3)]}${randomPattern(random, 3)}`,
    text: Array.from({ length: random(9) }, () => "aab"[random(3)]).join(""),
  }));
  const { stdout } = spawnSync("perl", ["-e", PERL], { input: cases.map(({ pattern, text }) => `${pattern}\t${text}\n`).join(""), encoding: "utf8", maxBuffer: 1e8 });
  const ours = cases.map(({ pattern, text }) => {
    const places = placesOf(pattern, text);
    return places === null ? "none" : places.map((place) => place ?? "-").join(",");
  });
  const answers = stdout.trimEnd().split("\n");
  const different = cases.flatMap((one, index) => (ours[index] === answers[index] ? [] : [{ ...one, ours: ours[index], perl: answers[index] }]));
  expect(answers.filter((answer) => answer !== "none").length).toBeGreaterThan(1000);
  expect(different).toEqual([]);
});
