import { seededRandom } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { hostnameKey } from "./hostname-key.ts";

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(hostnameKey(a)), Buffer.from(hostnameKey(b)));

test.each([
  [["ap2", "AP10", "ap100", "apex"]],
  [["ap", "ap-1", "ap1", "ap1a", "ap2", "apa"]],
  [["9", "10", "99", "100", "999999999", "1000000000", "9999999999", "10000000000", "1" + "0".repeat(200), "a"]],
  [["Ähre", "ahrens", "Zoo"]],
  [["muller", "Müllerin", "mullex"]],
  [["ostrava", "Østre", "ostrf"]],
  [["Straße", "strasse1", "strassf"]],
  [["sw-1.lan", "sw-2.lan", "sw-10.lan", "sw-10a.lan"]],
  [["host.example.net", "日本", "😀"]],
])("names are in the order that people expect: %j", (names) => {
  expect(names.toReversed().toSorted(byBytes)).toEqual(names);
});

test.each([
  ["AP2", "ap2"], ["Müller", "MULLER"], ["Mu\u{308}ller", "Müller"], ["ＡＰ２", "ap2"], ["ap02", "ap2"], ["İstanbul", "istanbul"], ["ΟΔΟΣ", "οδοσ"],
  ["000", "0"], ["Straße", "STRASSE"], ["a\0b", "ab"],
])("%j and %j are equal", (a, b) => expect(hostnameKey(a)).toBe(hostnameKey(b)));

test("only the empty name has the empty key, and none is longer than an index takes", () => {
  expect(hostnameKey("")).toBe("");
  for (const name of ["\u{301}", "\u{7}", "0", " ", "\0", "\u{FE0F}"]) expect(hostnameKey(name)).not.toBe("");
  for (const letter of ["x", "1a", "😀", "\u{FDFA}", "\u{D800}", "\u{301}", "9"]) {
    expect(Buffer.byteLength(hostnameKey(letter.repeat(255)))).toBeLessThanOrEqual(1020);
  }
});

test("a key is one whatever the case, and numbers in it order as numbers do", () => {
  const random = seededRandom(39);
  for (let round = 0; round < 2000; round += 1) {
    const [a, b] = [random(10 ** (1 + random(9))), random(10 ** (1 + random(9)))];
    expect(Math.sign(byBytes(`Host${a}.lan`, `hOST${b}.LAN`))).toBe(Math.sign(a - b));
  }
});
