import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeUtf8, encodeUtf8 } from "./text.ts";

const platform = new TextDecoder("utf-8", { ignoreBOM: true });

test("text comes back from its bytes", () => {
  const comesBack = fc.property(fc.string({ unit: "binary" }), (text) => {
    expect(decodeUtf8(encodeUtf8(text))).toBe(text);
  });
  fc.assert(comesBack);
});

test("any bytes decode as the platform decodes them, ill-formed ones included", () => {
  const agrees = fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
    expect(decodeUtf8(bytes)).toBe(platform.decode(bytes));
  });
  fc.assert(agrees, { numRuns: 2000 });
});

test("overlong forms, surrogates and cut sequences become replacement characters, one for each maximal stretch", () => {
  const overlong = [[0xc0, 0xaf], [0xe0, 0x80, 0x80], [0xf0, 0x82, 0x82, 0xac]];
  const beyond = [[0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf8]];
  const cut = [[0xe2, 0x82], [0xe2, 0x82, 0x41], [0xf0, 0x90, 0x80]];
  for (const hostile of [...overlong, ...beyond, ...cut]) {
    const bytes = Uint8Array.from(hostile);
    expect(decodeUtf8(bytes)).toBe(platform.decode(bytes));
  }
});

test("a lone surrogate is written as a replacement character", () => {
  expect([...encodeUtf8("\ud800")]).toEqual([0xef, 0xbf, 0xbd]);
});
