import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchGroup } from "../matching/match-group.ts";
import type { BufferMatch, Content } from "../rules/buffer-match.ts";
import type { BufferGroup } from "../rules/rule.ts";
import { choosePattern } from "./choose-pattern.ts";
import { createPrefilters, type FiledRule } from "./prefilter.ts";

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function content(text: string, more: Partial<Content> = {}): Content {
  return {
    kind: "content", bytes: bytesOf(text), isNegated: false, ignoreCase: false, offset: null, depth: null, distance: null, within: null, endsWith: false, ...more,
  };
}

function group(matches: readonly BufferMatch[], buffer: BufferGroup["buffer"] = "payload"): BufferGroup {
  return { buffer, transforms: [], matches };
}

function rule(buffers: readonly BufferGroup[], fastPattern: FiledRule["fastPattern"] = null): FiledRule {
  return { buffers, fastPattern };
}

function chosenText(one: FiledRule): string | null {
  const chosen = choosePattern(one);
  return chosen && `${chosen.group} ${String.fromCharCode(...chosen.pattern.bytes)}`;
}

describe("the content that stands for a rule", () => {
  test("is the one that it names, or the part of it", () => {
    const buffers = [group([content("abcdefgh"), content("xy")])];
    expect(chosenText(rule(buffers, { group: 0, match: 1, offset: 0, length: 2, isOnly: false }))).toBe("0 xy");
    expect(chosenText(rule(buffers, { group: 0, match: 0, offset: 2, length: 3, isOnly: false }))).toBe("0 cde");
  });

  test("is else its best, never one that need not be there", () => {
    expect(chosenText(rule([group([content("aaaaaa"), content("wxyz")])]))).toBe("0 wxyz");
    expect(chosenText(rule([group([content("/longer.php")]), group([content("/x.php?q")], "http.uri")]))).toBe("1 /x.php?q");
    expect(chosenText(rule([group([content("secret", { isNegated: true }), content("a")])]))).toBe("0 a");
    expect(chosenText(rule([group([content("secret")], "base64_data")]))).toBeNull();
    expect(chosenText(rule([group([{ kind: "absent", orElse: true }, content("secret")], "http.referer")]))).toBeNull();
    expect(chosenText(rule([]))).toBeNull();
  });
});

describe("rules filed by their contents", () => {
  test("share what is equal, and stay apart by buffer and transforms", () => {
    const uri = group([content("/gate.php")], "http.uri");
    const lower = { ...uri, transforms: [{ kind: "to-lowercase" }] } as const;
    const filed = createPrefilters([rule([uri]), rule([uri]), rule([lower]), rule([]), rule([group([content("x")])])]);
    expect(filed.unfiled).toEqual([3]);
    expect(filed.buffers.map(({ buffer, transforms, patterns }) => [buffer, transforms.length, patterns])).toEqual([["http.uri", 0, 1], ["http.uri", 1, 1], ["payload", 0, 1]]);
    const [first] = filed.buffers;
    expect([...(first?.found.subarray(0, first.find(bytesOf("/a/gate.php"))) ?? [])]).toEqual([0, 1]);
    expect(first?.find(bytesOf("/a/gate.ph"))).toBe(0);
  });

  test("are found wherever they match", () => {
    const amount = fc.option(fc.nat(3), { nil: null });
    const anyContent = fc.record({
      text: fc.constantFrom("a", "b", "ab", "ba", "abab", "bbaab"), ignoreCase: fc.boolean(), isNegated: fc.constantFrom(false, false, true), offset: amount, depth: fc.option(fc.integer({ min: 5, max: 9 }), { nil: null }),
      distance: fc.option(fc.integer({ min: -2, max: 2 }), { nil: null }), within: fc.option(fc.integer({ min: 5, max: 9 }), { nil: null }), endsWith: fc.boolean(),
    }).map(({ text, ...more }) => content(text, more));
    let matched = 0;
    fc.assert(fc.property(fc.array(fc.array(anyContent, { minLength: 1, maxLength: 3 }), { maxLength: 12 }), fc.string({ unit: fc.constantFrom("a", "b", "B"), maxLength: 20 }), (lists, text) => {
      const { buffers, unfiled } = createPrefilters(lists.map((list) => rule([group(list)])));
      const candidates = new Set([...unfiled, ...buffers.flatMap((one) => [...one.found.subarray(0, one.find(bytesOf(text)))])]);
      for (const [index, list] of lists.entries()) {
        const run = {
          buffer: bytesOf(text), variables: new BigUint64Array(), isLittleEndian: false, budget: { left: 1_000_000 }, decoded: null, dataset: () => false, starts: [], ends: [],
        };
        if (!matchGroup(list, run)) continue;
        matched += 1;
        expect(candidates.has(index)).toBe(true);
      }
    }), { numRuns: 2000 });
    expect(matched).toBeGreaterThan(500);
  });
});
