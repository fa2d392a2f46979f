import { processorMs, seededRandom } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { compileRegex, createBothMatchers } from "./regex.ts";
import { PLAIN_OPTIONS, type RegexOptions } from "./options.ts";

const OPTIONS: Readonly<Record<string, RegexOptions>> = {
  "": PLAIN_OPTIONS,
  i: { ...PLAIN_OPTIONS, ignoreCase: true },
  m: { ...PLAIN_OPTIONS, dotAll: true },
  x: { ...PLAIN_OPTIONS, extended: true },
};

function matcherOf(pattern: string, flags = "") {
  const made = compileRegex(pattern, OPTIONS[flags] ?? PLAIN_OPTIONS);
  if (!made.ok) throw new Error(`${pattern}: ${made.reason}`);
  return { ...made.regex, match: (text: string) => made.regex.exec(text)?.groups ?? null };
}

/** What Ruby 3.1 answers: pattern, flags, text, and the groups from 0 (nil as undefined), or null. */
const RUBY: readonly (readonly [string, string, string, readonly (string | undefined)[] | null])[] = [
  ["^b$", "", "a\nb\nc", ["b"]],
  ["\\Ab", "", "a\nb", null],
  ["a\\z", "", "a\n", null],
  ["a\\Z", "", "a\n", ["a"]],
  ["a$", "", "a\r\n", null],
  ["^$", "", "a\n", null],
  ["a.b", "", "a\nb", null],
  ["a.b", "", "a\rb", ["a\rb"]],
  ["a.b", "m", "a\nb", ["a\nb"]],
  ["(?m)a.b", "", "a\nb", ["a\nb"]],
  ["(?m:a.)b.", "", "a\nb\n", null],
  ["a(?i)b|c", "", "aC", ["aC"]],
  ["a(?i:b)c", "", "aBc", ["aBc"]],
  ["a(?i:b)c", "", "aBC", null],
  ["(?i)a(?-i)b", "", "Ab", ["Ab"]],
  ["(?i)a(?-i)b", "", "AB", null],
  ["[^a]", "i", "A", null],
  ["\\s", "", "\u00a0", null],
  ["\\h+", "", "xyzBEEF", ["BEEF"]],
  ["(?>a+)ab", "", "aaab", null],
  ["a++b", "", "aaab", ["aaab"]],
  ["a*+a", "", "aaa", null],
  ["a{2}?b", "", "aab", ["aab"]],
  ["^a{2}?$", "", "", [""]],
  ["a{,2}b", "", "aaab", ["aab"]],
  ["a{1,3}?", "", "aaa", ["a"]],
  ["a{x}", "", "a{x}", ["a{x}"]],
  ["(?<v>\\d+)\\.(\\d+)", "", "10.2", ["10.2", "10"]],
  ["(?:(a)|b)*", "", "ab", ["ab", "a"]],
  ["(a)?b", "", "b", ["b", undefined]],
  ["foo(?=bar)", "", "foobar", ["foo"]],
  ["foo(?!bar)", "", "foobar foobaz", ["foo"]],
  ["(?<=v)\\d", "", "1 v2", ["2"]],
  ["(?<!v)\\d", "", "v1 2", ["2"]],
  ["[[:alpha:]]+[[:^digit:]]", "", "1ab-", ["ab-"]],
  ["[a-z&&[^aeiou]]+", "", "aexyz", ["xyz"]],
  ["[\\w.-]+", "", "a-b.c d", ["a-b.c"]],
  ["[]a]+", "", "]a", ["]a"]],
  ["a b # c\n c", "x", "abc", ["abc"]],
  ["a(?#comment)b", "", "ab", ["ab"]],
  ["\\x41\\u0042\\103", "", "AB", null],
  ["\\x41\\u0042\\t", "", "AB\t", ["AB\t"]],
  ["\\bfoo\\b", "", "a foo.", ["foo"]],
  ["\\R", "", "\r\n", ["\r\n"]],
  ["(a|ab)(c|bcd)(d*)", "", "abcd", ["abcd", "a", "bcd", ""]],
];

describe("a Ruby expression", () => {
  test.each(RUBY.filter(([pattern]) => !pattern.includes("\\103")))("matches as in Ruby: %j %j on %j", (pattern, flags, text, groups) => {
    expect(matcherOf(pattern, flags).match(text)).toEqual(groups);
  });

  test("is refused with the reason and the place when it uses what is not supported", () => {
    for (const pattern of [
      "(a)\\1", "(?<a>x)\\k<a>", "(a)\\g<1>", "(?(1)a|b)", "\\p{Alpha}", "\\Ga", "a\\K", "(?~a)", "(a", "a)", "[a",
      "*a", "a\\", "[z-a]", "\\u{1F600}", "\\103",
    ]) {
      expect(compileRegex(pattern, PLAIN_OPTIONS), pattern).toEqual({ ok: false, reason: expect.stringMatching(/ at \d+$/) as unknown });
    }
    expect(compileRegex("(?:(?:(a|b){1000}){1000}){1000}", PLAIN_OPTIONS))
      .toEqual({ ok: false, reason: "its counted repetitions are too long" });
    expect(compileRegex("(".repeat(5000), PLAIN_OPTIONS).ok).toBe(false);
  });

  test("names literals of which every match holds one", () => {
    expect(matcherOf("^SSH-(\\d)\\.OpenSSH_(?:for_)?([\\d.]+)").literals()).toEqual([".openssh_"]);
    expect(matcherOf("(?i)nginx|Apache/2").literals()).toEqual(["nginx", "apache/2"]);
    expect(matcherOf("nginx|\\d+").literals()).toEqual([]);
    expect(matcherOf("(?:nginx)?").literals()).toEqual([]);
  });
});

/** What Perl 5.36 answers with `/a`, over bytes: pattern, flags, text, where the match is, and the groups from 1; or null. `{,2}` is PCRE's before 10.43. */
const PCRE: readonly (readonly [string, string, string, readonly [number, number, ...(string | undefined)[]] | null])[] = [
  ["^b$", "", "a\nb\nc", null],
  ["^b$", "m", "a\nb\nc", [2, 3]],
  ["a$", "", "a\n", [0, 1]],
  ["a$", "E", "a\n", null],
  ["a.b", "", "a\nb", null],
  ["a.b", "s", "a\nb", [0, 3]],
  ["(?s)a.b", "", "a\nb", [0, 3]],
  ["(?m)^b", "", "a\nb", [2, 3]],
  ["(?:a(?i)b|c)d", "", "Cd", [0, 2]],
  ["(?:a(?i)b|c)d", "", "CD", null],
  ["(?:a(?i)b|c)d", "", "aBd", [0, 3]],
  ["a(?i)b|c", "", "C", [0, 1]],
  ["a{,2}b", "", "aab", null],
  ["a{,2}b", "", "a{,2}b", [0, 6]],
  ["a{2}?b", "", "ab", null],
  ["a{1,3}+ab", "", "aaab", null],
  ["a{1,3}?", "", "aaa", [0, 1]],
  ["[a[b]+]", "", "a[b]]", [0, 4]],
  ["[a&&b]+", "", "&a", [0, 2]],
  ["[a-\\d]+", "", "1-a", [0, 3]],
  ["\\h+x", "", "a \tx", [1, 4]],
  ["[\\h]\\v", "", "a \v", [1, 3]],
  ["\\N+", "", "ab\nc", [0, 2]],
  ["\\Qa.b\\E", "", "axb a.b", [4, 7]],
  ["\\x{41}\\x42", "", "AB", [0, 2]],
  ["(?P<n>a)(b)", "", "ab", [0, 2, "a", "b"]],
  ["(?<n>a)(b)", "", "ab", [0, 2, "a", "b"]],
  ["(?:(a)|b)*", "", "ab", [0, 2, "a"]],
  ["(?=.*b)a", "", "ab", [0, 1]],
  ["(?<!x)a", "", "xa a", [3, 4]],
  ["(?>a+)ab", "", "aaab", null],
  ["\\xff[^\\x00-\\x7f]", "", "a\u00ff\u0080", [1, 3]],
  ["\u00e9", "i", "\u00c9", null],
  ["A\u00e9", "i", "a\u00e9", [0, 2]],
];

const PCRE_FLAGS: Readonly<Record<string, Partial<RegexOptions>>> = {
  "": {}, i: { ignoreCase: true }, s: { dotAll: true }, m: { multiline: true }, E: { dollarEndOnly: true },
};

describe("a PCRE expression", () => {
  test.each(PCRE)("matches bytes and texts as in Perl: %j %j on %j", (pattern, flags, text, expected) => {
    const compiled = compileRegex(pattern, { syntax: "pcre", ...PCRE_FLAGS[flags] });
    if (!compiled.ok) throw new Error(compiled.reason);
    for (const input of [text, Buffer.from(text, "latin1")]) {
      const match = compiled.regex.exec(input);
      expect(match && [match.index, match.end, ...match.groups.slice(1)]).toEqual(expected);
      expect(compiled.regex.test(input)).toBe(expected !== null);
    }
  });

  test("is refused when it uses what is not supported", () => {
    for (const pattern of ["(?P=a)(?P<a>x)", "(a)\\2", "\\g{-1}a", "(?|a|b)", "(?R)", "(*FAIL)", "a\\K", "\\Qab\\E+", "[\\Qa\\E]", "(?^i:a)", "\\x{10000}"]) {
      expect(compileRegex(pattern, { syntax: "pcre" }), pattern).toMatchObject({ ok: false });
    }
  });
});

describe("limits", () => {
  test("a pattern larger than the caller allows is refused", () => {
    expect(compileRegex("a{500}", {}, { size: 1000 }).ok).toBe(true);
    expect(compileRegex("a{1500}", {}, { size: 1000 }).ok).toBe(false);
  });

  test("one budget bounds several patterns and texts together, and says when it is spent", () => {
    const compiled = compileRegex("^(a+)+$");
    if (!compiled.ok) throw new Error(compiled.reason);
    const budget = { left: 100_000 };
    let calls = 0;
    while (budget.left > 0 && calls < 1000) {
      calls += 1;
      expect(compiled.regex.exec(`${"a".repeat(400)}b`, budget)).toBeNull();
    }
    expect(calls).toBeGreaterThan(1);
    expect(calls).toBeLessThan(1000);
    expect(compiled.regex.exec("a", budget)).toBeNull();
    expect(compiled.regex.exec("a")?.groups).toEqual(["a", "a"]);
  });

  test("bytes are read where they lie, a part of a larger buffer too", () => {
    const compiled = compileRegex("\\xfe(.)$", { syntax: "pcre" });
    if (!compiled.ok) throw new Error(compiled.reason);
    expect(compiled.regex.exec(Uint8Array.of(0xfe, 1, 0xfe, 2, 0xfe).subarray(1, 4))).toEqual({ index: 1, end: 3, groups: ["\xfe\x02", "\x02"] });
  });
});

function randomPattern(random: (limit: number) => number, depth: number): string {
  const inner = () => randomPattern(random, depth - 1);
  const pick = (texts: readonly string[]) => texts[random(texts.length)] ?? "";
  switch (random(depth <= 0 ? 2 : 9)) {
    case 0:
      return pick(["a", "b", "[ab]", ".", "[^a]"]);
    case 1:
      return pick(["a", "b", "^", "$", "\\b", "\\n"]);
    case 2:
    case 3:
    case 4:
      return inner() + inner();
    case 5:
      return `(?:${inner()}|${inner()})`;
    case 6:
      return `(${inner()})`;
    case 7:
      return `(?${pick(["=", "!", ">", ":"])}${randomPattern(random, 0)})`;
    default: {
      // A turn that takes nothing ends a repetition in Ruby and is undone in JavaScript: what is repeated here always takes something.
      const body = pick([
        "a", "[ab]", "(?:a|b)", "(?:ab|a)", "(?:a.|b)", "(?:a|ab|b)b", "(?:a+b?)", "(?:[ab]{1,2}|b)", "(?>a|ab)", "(?=a)[ab]",
      ]);
      return `(?:${body})${pick(["*", "+", "?", "{2}", "{1,2}", "{2,}", "*?", "+?", "??", "{1,3}?"])}`;
    }
  }
}

describe("the two ways of matching", () => {
  test("agree with each other on whatever pattern and text, whole match and groups", () => {
    const random = seededRandom(7);
    let matches = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const pattern = randomPattern(random, 4);
      const both = createBothMatchers(pattern, PLAIN_OPTIONS);
      const text = Array.from({ length: random(9) }, () => "aab\n"[random(4)]).join("");
      const linear = both?.linear(text) ?? null;
      expect([pattern, text, linear]).toEqual([pattern, text, both?.native(text) ?? null]);
      if (linear) matches += 1;
    }
    expect(matches).toBeGreaterThan(4000);
  });
});

describe("a text that was made to be slow", () => {
  const SLOW: readonly (readonly [string, string])[] = [
    ["^(a+)+$", `${"a".repeat(4000)}b`],
    ["^(a|a)*$", `${"a".repeat(4000)}b`],
    ["(?:a|aa){1,200}x", "a".repeat(4000)],
    ["(.*) release (.*) \\(.*\\).*Kernel (.*) on a[^ ]* ([^ ]*\\d)", " release  ( Kernel  on a ".repeat(160)],
    ["^(.*)-(.*)-(.*)-(.*)-(.*)!$", "-".repeat(4000)],
    ["([\\w-]+\\.)+[\\w-]+@", "a.".repeat(2000)],
    ["(?=(?:a+)+$)x", "a".repeat(4000)],
    ["^.{1,512}x.{1,512}y", "x".repeat(4000)],
    ["(?:(?=.*b)a)+$", "a".repeat(4000)],
    ["(?:(?<=a|aa)a)+$", `${"a".repeat(4000)}b`],
    ["(?:(?<!b.{1,400})a)+$", `${"a".repeat(4000)}b`],
    ["(?:(?>a*)b|a)+$", `${"a".repeat(4000)}c`],
    ["(?=(?=(?=a*b)a*b)a*b)a", "a".repeat(4000)],
    // Ways that no long repetition multiplies: V8 alone would take each of them.
    [`${"a?".repeat(60)}${"a".repeat(60)}!`, "a".repeat(4000)],
    [`${"(?:a|aa)".repeat(60)}!`, "a".repeat(4000)],
    [`${"a{0,3}".repeat(60)}!`, "a".repeat(4000)],
    ["a+[b-c]", "a".repeat(4000)],
  ];
  test.each(SLOW)("is done with in bounded time: %j", (pattern, text) => {
    let match: unknown;
    expect(processorMs(() => (match = matcherOf(pattern).match(text)))).toBeLessThan(2000);
    expect(match).toBe(null);
  });
});
