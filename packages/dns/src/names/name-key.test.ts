import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createNameEndings, hashEndings } from "./name-hash.ts";
import { formatKey, parseHostName } from "./name-key.ts";

test("names in lists may be of any script and case, and end with a dot", () => {
  const read = (text: string) => {
    const key = parseHostName(text);
    return key && formatKey(key);
  };
  expect(["Example.COM.", "_dmarc.example.com", "bücher.example", "BÜCHER.example", "例え.テスト", "xn--bcher-kva.example"].map(read)).toEqual([
    "example.com", "_dmarc.example.com", "xn--bcher-kva.example", "xn--bcher-kva.example", "xn--r8jz45g.xn--zckzah", "xn--bcher-kva.example",
  ]);
  for (const text of ["", ".", "a..b", "1.2.3.4", "a b.example", "a/b", "http://a.example", "[::1]", "*.a.example", "é:80", `${"a".repeat(64)}.example`, "a.".repeat(130)]) {
    expect(read(text), text).toBeNull();
  }
});

test("any text is a name or none", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), (text) => {
    const key = parseHostName(text);
    return key === null || (key.length > 1 && parseHostName(formatKey(key)) !== null);
  }));
});

test("the hash of an ending is that of the ending alone, and the key changes all", () => {
  const endings = createNameEndings();
  const hashesOf = (name: string, seed: number) => {
    const key = parseHostName(name) ?? new Uint8Array(0);
    return Array.from(endings.hashes.subarray(0, hashEndings(key, key.length, [seed, 7], endings)));
  };
  expect(hashesOf("www.example.com", 1).slice(1)).toEqual(hashesOf("example.com", 1));
  const spread = new Set(Array.from({ length: 1000 }, (_, index) => hashesOf(`n${index}.example`, 1)[0]));
  expect(spread.size).toBe(1000);
  expect(hashesOf("example.com", 1)).not.toEqual(hashesOf("example.com", 2));
});
