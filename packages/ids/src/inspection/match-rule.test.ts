import { expect, test } from "vitest";
import type { BufferMatch, ByteExtract, Content } from "../rules/buffer-match.ts";
import type { BufferGroup } from "../rules/rule.ts";
import { matchRule, type RuleOutcome } from "./match-rule.ts";

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function content(text: string, more: Partial<Content> = {}): Content {
  return {
    kind: "content", bytes: bytesOf(text), isNegated: false, ignoreCase: false, offset: null, depth: null, distance: null, within: null, endsWith: false, ...more,
  };
}

function group(buffer: BufferGroup["buffer"], ...matches: readonly BufferMatch[]): BufferGroup {
  return { buffer, transforms: [], matches };
}

function outcomeOf(groups: readonly BufferGroup[], texts: Readonly<Record<string, readonly string[]>>, steps?: number): RuleOutcome {
  const source = { isLittleEndian: false, dataset: () => false, instancesOf: (buffer: string) => (texts[buffer] ?? []).map(bytesOf) };
  return matchRule({ buffers: groups, variables: ["n"] }, source, steps === undefined ? undefined : { left: steps });
}

test("a rule matches where each of its groups does, in any instance, and says where", () => {
  const groups = [group("http.uri", content("/gate")), group("dns.query", content("evil"), content("com", { endsWith: true }))];
  expect(outcomeOf(groups, { "http.uri": ["/a/gate"], "dns.query": ["evil.org", "evil.com"] })).toEqual({
    outcome: "matched",
    places: [
      { buffer: "http.uri", bytes: bytesOf("/a/gate"), starts: [2], ends: [7] }, { buffer: "dns.query", bytes: bytesOf("evil.com"), starts: [0, 5], ends: [4, 8] },
    ],
  });
  expect(outcomeOf(groups, { "http.uri": ["/gate"], "dns.query": ["evil.org", "com"] }).outcome).toBe("not-matched");
  expect(outcomeOf(groups, { "http.uri": ["/gate"] }).outcome).toBe("not-matched");
  expect(outcomeOf([], {}).outcome).toBe("matched");
});

test("a buffer that is not there matches where the rule says so, and no negated content", () => {
  const absent = { kind: "absent", orElse: false } as const;
  expect(outcomeOf([group("http.referer", absent)], {}).outcome).toBe("matched");
  expect(outcomeOf([group("http.referer", absent)], { "http.referer": ["x"] }).outcome).toBe("not-matched");
  expect(outcomeOf([group("http.referer", { ...absent, orElse: true }, content("x"))], { "http.referer": ["x"] }).outcome).toBe("matched");
  expect(outcomeOf([group("http.referer", content("x", { isNegated: true }))], {}).outcome).toBe("not-matched");
});

test("numbers of one group are known in the next, and what is decoded is matched by its own", () => {
  const extract: ByteExtract = {
    kind: "byte-extract", count: 1, offset: 0, isRelative: false, form: { byteOrder: "big", digits: 10 }, multiplier: 1, align: 0, bitmask: null, result: { variable: 0 },
  };
  const groups = [group("http.uri", extract), group("http.header", content("b", { offset: { variable: 0 } }))];
  expect(outcomeOf(groups, { "http.uri": ["2"], "http.header": ["aab"] }).outcome).toBe("matched");
  expect(outcomeOf(groups, { "http.uri": ["3"], "http.header": ["aab"] }).outcome).toBe("not-matched");
  const decoding = [group("http.cookie", content("="), { kind: "base64-decode", bytes: 0, offset: 0, isRelative: true }), group("base64_data", content("hello"))];
  expect(outcomeOf(decoding, { "http.cookie": ["id=aGVsbG8="] }).outcome).toBe("matched");
});

test("gives up within the steps of all its groups together", () => {
  const many = Array.from({ length: 12 }, () => content("a", { within: 4000, distance: 0 }));
  const groups = [group("http.uri", content("a")), group("http.header", content("a"), ...many, content("b", { within: 4000, distance: 0 }))];
  expect(outcomeOf(groups, { "http.uri": ["a"], "http.header": ["a".repeat(4000)] }, 50_000).outcome).toBe("gave-up");
});

test("a rule with an expression that cannot be run never matches, nor does its opposite", () => {
  const flags = { ignoreCase: false, dotAll: false, multiline: false, extended: false, anchored: false, dollarEndOnly: false, ungreedy: false };
  for (const isNegated of [false, true]) {
    const broken = { kind: "pcre", source: "(", isNegated, isRelative: false, captures: [], flags } as const;
    expect(outcomeOf([group("http.uri", content("a"), broken)], { "http.uri": ["ab"] }).outcome).toBe("not-matched");
  }
});
