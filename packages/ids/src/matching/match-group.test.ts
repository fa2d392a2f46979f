import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BufferMatch, ByteExtract, ByteJump, ByteMath, ByteTest, Content, IsDataAt, Pcre } from "../rules/buffer-match.ts";
import type { GroupRun } from "./group-run.ts";
import { matchGroup } from "./match-group.ts";

const FORM = { byteOrder: "big", digits: null } as const;
const FLAGS = { ignoreCase: false, dotAll: false, multiline: false, extended: false, anchored: false, dollarEndOnly: false, ungreedy: false };

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function content(text: string, more: Partial<Content> = {}): Content {
  return {
    kind: "content", bytes: bytesOf(text), isNegated: false, ignoreCase: false, offset: null, depth: null, distance: null, within: null, endsWith: false, ...more,
  };
}

function pcre(source: string, more: Partial<Pcre> = {}): Pcre {
  return { kind: "pcre", source, isNegated: false, isRelative: false, flags: FLAGS, captures: [], ...more };
}

function byteTest(more: Partial<ByteTest>): ByteTest {
  return { kind: "byte-test", count: 1, offset: 0, isRelative: false, form: FORM, bitmask: null, operator: "=", isNegated: false, value: 0n, ...more };
}

function byteJump(more: Partial<ByteJump>): ByteJump {
  return {
    kind: "byte-jump", count: 1, offset: 0, isRelative: false, form: FORM, bitmask: null, multiplier: 1, isAligned: false, from: "number", postOffset: 0, ...more,
  };
}

function byteExtract(more: Partial<ByteExtract> = {}): ByteExtract {
  return { kind: "byte-extract", count: 1, offset: 0, isRelative: false, form: FORM, multiplier: 1, align: 0, bitmask: null, result: { variable: 0 }, ...more };
}

function byteMath(more: Partial<ByteMath>): ByteMath {
  return { kind: "byte-math", count: 1, offset: 0, isRelative: false, form: FORM, bitmask: null, operator: "+", value: 0n, result: { variable: 0 }, ...more };
}

function isDataAt(at: IsDataAt["at"], more: Partial<IsDataAt> = {}): IsDataAt {
  return { kind: "is-data-at", at, isRelative: false, isNegated: false, ...more };
}

function runOn(buffer: Uint8Array, steps = 1_000_000, decoded: readonly BufferMatch[] | null = null): GroupRun {
  return { buffer, variables: new BigUint64Array(2), isLittleEndian: false, budget: { left: steps }, decoded, dataset: () => false, starts: [], ends: [] };
}

function matches(list: readonly BufferMatch[], text: string, decoded: readonly BufferMatch[] = []): boolean {
  return matchGroup(list, runOn(bytesOf(text), undefined, decoded.length > 0 ? decoded : null));
}

const V = { variable: 0 };

describe("the keywords", () => {
  test.each<readonly [string, readonly BufferMatch[], string, boolean]>([
    ["depth counts from the offset", [content("b", { offset: 1, depth: 1 })], "ab", true],
    ["and ends there", [content("b", { offset: 1, depth: 1 })], "aab", false],
    ["distance counts from the end", [content("ab"), content("c", { distance: 1 })], "abc", false],
    ["and may go back", [content("ab"), content("b", { distance: -1, within: 1 })], "xab", true],
    ["within counts from the distance", [content("a"), content("c", { distance: 1, within: 1 })], "abc", true],
    ["and bounds the end", [content("a"), content("cd", { distance: 1, within: 2 })], "abbcd", false],
    ["a later place of the first helps the second", [content("a"), content("b", { within: 1 })], "a_ab", true],
    ["and the third helps neither", [content("a"), content("b", { distance: 0, within: 2 }), content("c", { within: 1 })], "abxaabcx", true],
    ["ends with", [content("ab", { endsWith: true })], "abcab", true],
    ["does not end with", [content("ab", { endsWith: true })], "ababc", false],
    ["negated, within", [content("a"), content("b", { isNegated: true, within: 1 })], "abac", true],
    ["negated, nowhere", [content("a"), content("b", { isNegated: true })], "abac", false],
    ["letters of either case", [content("abc", { ignoreCase: true })], "xAbC", true],
    ["data behind", [content("ab"), isDataAt(2, { isRelative: true })], "abcd", true],
    ["no data behind", [content("ab"), isDataAt(2, { isRelative: true })], "abc", false],
    ["no more data than that", [content("ab"), isDataAt(1, { isRelative: true, isNegated: true })], "ab", true],
    ["a byte at a place", [isDataAt(3)], "abc", false],
    ["size", [{ kind: "size", test: { operator: "between", low: 2, high: 4 } }, content("a")], "abc", true],
    ["pcre from the match before", [content("ab"), pcre("^c", { isRelative: true })], "abc", true],
    ["pcre, another place of the content", [content("a"), pcre("^c", { isRelative: true })], "abac", true],
    ["pcre, another place of itself", [pcre("a."), content("c", { within: 1 })], "abac", false],
    ["pcre, the next of itself", [pcre("a"), content("c", { within: 1 })], "abac", true],
    ["no pcre", [content("a"), pcre("^c", { isRelative: true, isNegated: true })], "ac", false],
    ["byte_test, relative", [content("a"), byteTest({ isRelative: true, value: 0x35n })], "a4a5", true],
    ["byte_test, negated, of what is not there", [byteTest({ offset: 9, isNegated: true })], "a", false],
    ["byte_test, digits", [byteTest({ count: 4, form: { byteOrder: "big", digits: 10 }, operator: ">", value: 99n })], " 123", true],
    ["byte_test, hexadecimal digits", [byteTest({ count: 4, form: { byteOrder: "big", digits: 16 }, value: 0xffn })], "0xff", true],
    ["byte_test, any digits", [byteTest({ count: 3, form: { byteOrder: "big", digits: "any" }, value: 8n })], "010", true],
    ["byte_test, no digits", [byteTest({ count: 2, form: { byteOrder: "big", digits: 10 } })], "xy", false],
    ["byte_test, little endian with a mask", [byteTest({ count: 2, form: { byteOrder: "little", digits: null }, bitmask: 0xff00n, value: 0x62n })], "ab", true],
    ["byte_jump", [byteJump({}), content("c", { within: 1 })], "\u0002abc", true],
    ["byte_jump, aligned", [byteJump({ isAligned: true }), content("c", { within: 1 })], "\u0001abbbc", true],
    ["byte_jump beyond", [byteJump({})], "\u0003abc", false],
    ["byte_jump from the beginning", [byteJump({ offset: 1, from: "beginning" }), content("c", { within: 1 })], "a\u0003bc", true],
    ["byte_jump from the end", [byteJump({ count: 0, from: "end", postOffset: -1 }), content("c", { within: 1 })], "abc", true],
    ["byte_jump before the beginning", [byteJump({ count: 0, from: "beginning", postOffset: -9 }), content("a", { within: 1 })], "ab", true],
    ["byte_extract, then offset", [byteExtract(), content("c", { offset: V })], "\u0003cb_c", true],
    ["byte_extract, then depth", [byteExtract({ offset: 1 }), content("c", { depth: V })], "a\u0002bc", false],
    ["byte_extract, then within", [byteExtract(), content("c", { within: V })], "\u0002abc", false],
    ["byte_extract, then distance", [byteExtract({ multiplier: 2 }), content("c", { distance: V, within: 1 })], "\u0001abc", true],
    ["byte_extract, then byte_test", [byteExtract(), byteTest({ offset: 1, value: V })], "aa", true],
    ["byte_extract, then isdataat", [byteExtract(), isDataAt(V, { isRelative: true })], "\u0002a", false],
    ["byte_math", [byteMath({ operator: "*", value: 2n }), byteTest({ isRelative: true, value: V })], "\u0030\u0060", true],
    ["byte_math by nothing", [byteMath({ operator: "/" })], "a", false],
    ["absent, and it is there", [{ kind: "absent", orElse: false }], "a", false],
    ["entropy", [{ kind: "entropy", offset: 0, bytes: 0, operator: "=", value: 2 }], "abcd", true],
  ])("%s", (_, list, text, expected) => {
    expect(matches(list, text)).toBe(expected);
  });

  test("base64_decode hands what it decodes to matches of its own", () => {
    const decode = { kind: "base64-decode", bytes: 0, offset: 0, isRelative: true } as const;
    expect(matches([content("x="), decode], "x=aGVsbG8=;", [content("hello", { endsWith: true })])).toBe(true);
    expect(matches([content("x="), decode], "x=aGVsbG8=;", [content("help")])).toBe(false);
    expect(matches([content("x="), decode], "x=;", [content("help", { isNegated: true })])).toBe(false);
  });
});

const amount = fc.option(fc.nat(4), { nil: null });
const anyMatch: fc.Arbitrary<BufferMatch> = fc.oneof(
  { weight: 6, arbitrary: fc.record({
    text: fc.constantFrom("a", "b", "ab", "ba", "aa"), isNegated: fc.constantFrom(false, false, false, true), offset: amount, depth: fc.option(fc.integer({ min: 2, max: 6 }), { nil: null }),
    distance: fc.option(fc.integer({ min: -3, max: 3 }), { nil: null }), within: fc.option(fc.integer({ min: 2, max: 6 }), { nil: null }), endsWith: fc.constantFrom(false, false, true),
  }).map(({ text, endsWith, ...more }) => content(text, { ...more, endsWith: endsWith && !more.isNegated })) },
  fc.record({ at: fc.nat(4), isRelative: fc.boolean(), isNegated: fc.boolean() }).map(({ at, ...more }) => isDataAt(at, more)),
  fc.record({ offset: fc.integer({ min: -2, max: 2 }), isRelative: fc.boolean(), isNegated: fc.boolean() }).map((more) => byteTest({ ...more, value: 0x61n })),
);

/** All places of all contents, one after the other, without a thought of which can help. */
function slowlyMatches(list: readonly BufferMatch[], buffer: Uint8Array, place = 0): boolean {
  const [match, ...rest] = list;
  if (match === undefined) return true;
  if (match.kind === "is-data-at") {
    const isThere = match.isRelative ? place + Number(match.at) <= buffer.length : Number(match.at) < buffer.length;
    return isThere !== match.isNegated && slowlyMatches(rest, buffer, place);
  }
  if (match.kind === "byte-test") {
    const byte = buffer[(match.isRelative ? place : 0) + Number(match.offset)];
    return byte !== undefined && (byte === 0x61) !== match.isNegated && slowlyMatches(rest, buffer, place);
  }
  if (match.kind !== "content") throw new Error(match.kind);
  const [offset, depth, distance, within] = [Number(match.offset), match.depth, Number(match.distance), match.within];
  const isRelative = match.distance !== null || within !== null;
  const base = isRelative ? place : 0;
  const withinEnd = within === null ? Infinity : place + Number(within) + distance;
  const limit = Math.min(buffer.length, depth === null ? Infinity : base + offset + Number(depth), withinEnd < 0 ? Infinity : withinEnd);
  const places = Array.from(buffer, (_, at) => at).filter((at) => {
    const end = at + match.bytes.length;
    if (at < offset || (isRelative && at < place + distance) || end > limit || (match.endsWith && end !== buffer.length)) return false;
    return match.bytes.every((byte, index) => buffer[at + index] === byte);
  });
  if (match.isNegated) return places.length === 0 && slowlyMatches(rest, buffer, place);
  return places.some((at) => slowlyMatches(rest, buffer, at + match.bytes.length));
}

describe("a group", () => {
  test("matches where any places of its contents do", () => {
    let matched = 0;
    fc.assert(fc.property(fc.array(anyMatch, { minLength: 1, maxLength: 5 }), fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 14 }), (list, text) => {
      const expected = slowlyMatches(list, bytesOf(text));
      expect(matches(list, text)).toBe(expected);
      matched += Number(expected);
    }), { numRuns: 20_000 });
    expect(matched).toBeGreaterThan(2000);
  });

  test("says where it matched", () => {
    const list = [content("a"), content("b", { within: 1 }), pcre("c+", { isRelative: true })];
    const run = runOn(bytesOf("a_ab_cc"));
    expect(matchGroup(list, run)).toBe(true);
    expect([run.starts, run.ends]).toEqual([[2, 3, 5], [3, 4, 7]]);
  });

  test("gives up within its budget, whatever is asked of whatever bytes", () => {
    const many = Array.from({ length: 12 }, () => content("a", { within: 4000, distance: 0 }));
    for (const last of [content("b", { within: 4000, distance: 0 }), pcre("(a|aa)+b$", { isRelative: true }), pcre("(a*)*\\1b", { isRelative: true }), byteTest({ isRelative: true })]) {
      const run = runOn(bytesOf("a".repeat(4000)), 100_000);
      expect(matchGroup([content("a"), ...many, last], run)).toBe(false);
      expect(run.budget.left).toBeLessThanOrEqual(0);
      expect(run.budget.left).toBeGreaterThan(-100_000);
    }
  });

  test("matches nothing where it cannot be run, negated or not", () => {
    for (const isNegated of [false, true]) expect(matches([content("a"), pcre("(?R)", { isNegated })], "ab")).toBe(false);
  });
});
