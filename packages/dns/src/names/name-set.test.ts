import * as fc from "fast-check";
import { encodeDns } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { PLAIN_BLOCK } from "../lists/list-rule.ts";
import { buildSet, joinPieces, openFile } from "../testing/read-list.ts";
import { parseHostName, writeTextKey } from "./name-key.ts";
import { createNameSetBuilder, type NameSetOptions } from "./name-set-builder.ts";
import { openNameSet } from "./name-set.ts";

const label = fc.stringMatching(/^[a-z0-9_-]{1,12}$/);
const hostName = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => [...labels, "test"].join("."));
const OPTIONS: NameSetOptions = { lists: [{ id: "a", name: "A", category: "malware", kind: "filter" }], hashKey: [3, 4], day: 100, expectedNames: 0, before: null };

function fileOf(names: readonly string[]): Uint8Array {
  const builder = createNameSetBuilder(OPTIONS);
  for (const name of names) builder.add(0, { trigger: "qname", key: parseHostName(name) ?? new Uint8Array(0), scope: "both", body: PLAIN_BLOCK });
  return joinPieces(builder.finish());
}

test("a set finds what a map of the names would find, and nothing else", () => {
  fc.assert(fc.property(fc.array(hostName, { maxLength: 60 }), fc.array(hostName, { maxLength: 20 }), (names, others) => {
    const set = openFile(fileOf(names));
    const known = new Set(names);
    expect(set.size).toBe(known.size);
    for (const name of [...names, ...others, ...names.map((one) => `deeper.${one}`)]) {
      const labels = name.split(".");
      const expected = labels.map((_, index) => labels.slice(index).join(".")).filter((ending) => known.has(ending));
      expect(set.find(name).map((hit) => set.keyOf(hit))).toEqual(expected);
    }
  }));
});

test("names of any number are found after the table grew, by text and by the bytes of the wire, in any letter case", () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `host-${index * 7919 % 20_000}.zone-${index % 13}.example`);
  const set = openFile(fileOf(names));
  expect(set.size).toBe(20_000);
  for (const name of names) {
    expect(set.find(name.toUpperCase())).toHaveLength(1);
    const wire = encodeDns({ questions: [{ name, type: 1, class: 1, wantsUnicastResponse: false }] }).subarray(12);
    expect(set.find(wire)).toHaveLength(1);
  }
  expect(set.find("host-20000.zone-0.example")).toEqual([]);
});

test("a name keeps all lists that have it, each with its scope, and when it was first seen", () => {
  const lists = [
    { format: "hosts", text: "0.0.0.0 ads.example.com\n0.0.0.0 new.example.com" }, { format: "adblock", text: "||example.com^\n||ads.example.com^" },
  ] as const;
  const before = buildSet([lists[1]], { day: 19_000 });
  const set = buildSet(lists, { day: 20_000, before });
  const [own, above] = set.find("ads.example.com");
  expect(own?.rules.map(({ list, scope }) => [list, scope])).toEqual([[0, "exact"], [1, "both"]]);
  expect([own?.above, above?.above]).toEqual([0, 1]);
  expect([own?.firstSeenDay, set.find("new.example.com")[0]?.firstSeenDay]).toEqual([19_000, 20_000]);
  expect(above && set.keyOf(above)).toBe("example.com");
});

test("networks are found by their addresses, the longest first", () => {
  const set = buildSet([{ format: "rpz", text: ["8.0.0.0.10.rpz-ip CNAME .", "32.7.0.0.10.rpz-ip CNAME *.", "48.zz.1.2001.rpz-ip CNAME .", "*.example CNAME ."].join("\n") }]);
  expect(set.findAddress(Uint8Array.of(10, 0, 0, 7)).map((hit) => set.keyOf(hit))).toEqual(["10.0.0.7/32", "10.0.0.0/8"]);
  expect(set.findAddress(Uint8Array.of(11, 0, 0, 7))).toEqual([]);
  expect(set.findAddress(Uint8Array.of(0x20, 1, 0, 1, ...Array.from({ length: 12 }, () => 0)))).toHaveLength(1);
});

test("the root's rules are found for every name", () => {
  const set = buildSet([{ format: "rpz", text: "* CNAME ." }]);
  expect([set.find("a.example"), set.find("."), set.find("")].map((hits) => hits.map(({ above }) => above))).toEqual([[2], [0], [0]]);
});

test("what is no name is not found and does no harm", () => {
  const set = buildSet([{ format: "domains", text: "example.com" }]);
  fc.assert(fc.property(fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.uint8Array({ maxLength: 300 })), (name) => Array.isArray(set.find(name))));
  expect(set.find("a..b")).toEqual([]);
  expect(set.find(`${"a".repeat(64)}.example.com`)).toEqual([]);
  expect(writeTextKey("a\\.b.example", new Uint8Array(254))).toBe(12);
});

test("a file that is cut or changed is refused, or finds other names; it never throws or hangs", () => {
  const file = fileOf(["a.example", "b.example", "c.d.example"]);
  for (let length = 0; length < file.length; length += 1) expect(openNameSet(file.slice(0, length))).toHaveProperty("fault");
  fc.assert(fc.property(fc.nat(file.length - 1), fc.nat(255), (at, byte) => {
    const changed = file.slice();
    changed[at] = byte;
    const set = openNameSet(changed);
    if (!("fault" in set)) set.find("c.d.example");
  }), { numRuns: 2000 });
});

test("a file may lie anywhere in memory", () => {
  const file = fileOf(["a.example"]);
  const shifted = new Uint8Array(file.length + 1);
  shifted.set(file, 1);
  expect(openFile(shifted.subarray(1)).find("x.a.example")).toHaveLength(1);
});
