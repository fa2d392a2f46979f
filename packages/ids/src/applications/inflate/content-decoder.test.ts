import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Coding, createContentDecoder } from "./content-decoder.ts";

function decode(coding: Coding, bytes: Uint8Array, size = bytes.length): { readonly text: string; readonly faults: readonly string[] } {
  const out: Buffer[] = [];
  const faults: string[] = [];
  const decoder = createContentDecoder(coding, (piece) => out.push(Buffer.from(piece)) > 0, (fault) => faults.push(fault));
  for (let at = 0; at < bytes.length; at += size) decoder.push(bytes.subarray(at, at + size));
  return { text: Buffer.concat(out).toString("latin1"), faults };
}

const TEXT = "Bello decompressed world, hello again hello";
const [gzip, zlib, raw] = [gzipSync(TEXT), deflateSync(TEXT), deflateRawSync(TEXT)];

describe("what Suricata 7.0.10 makes of a body", () => {
  const rows: readonly (readonly [string, Coding, Uint8Array, string])[] = [
    ["gzip", "gzip", gzip, TEXT], ["gzip that is zlib's", "gzip", zlib, TEXT], ["gzip that is raw", "gzip", raw, TEXT], ["gzip that is none", "gzip", Buffer.from(TEXT), TEXT],
    ["deflate", "deflate", zlib, TEXT], ["deflate that is raw", "deflate", raw, TEXT], ["deflate that is gzip", "deflate", gzip, TEXT],
    ["deflate that is none", "deflate", Buffer.from("<html> plain"), "<html> plain"], ["two members", "gzip", Buffer.concat([gzip, gzip]), TEXT],
    ["bytes behind the end", "gzip", Buffer.concat([gzip, Buffer.from("tail")]), TEXT], ["a wrong check sum", "gzip", Buffer.concat([gzip.subarray(0, -8), Buffer.alloc(8)]), TEXT],
    ["nothing", "gzip", Buffer.alloc(0), ""],
  ];
  test.each(rows)("%s", (_, coding, bytes, text) => {
    expect(decode(coding, bytes).text).toBe(text);
    expect(decode(coding, bytes, 1).text).toBe(text);
  });

  test("that ends too early is what came before", () => {
    expect(decode("gzip", gzip.subarray(0, -14)).text).toMatch(/^Bello decompressed world, hello/);
  });

  test("headers of gzip with all that they may have", () => {
    const extras = Buffer.from([3, 0, 1, 2, 3, ...Buffer.from("name\0comment\0"), 9, 9]);
    const bytes = Buffer.concat([gzip.subarray(0, 3), Buffer.from([0xfe]), gzip.subarray(4, 10), extras, gzip.subarray(10)]);
    expect(decode("gzip", bytes, 3).text).toBe(TEXT);
  });
});

test("a layer that grows beyond all bounds is cut and reported", () => {
  const { text, faults } = decode("gzip", gzipSync(Buffer.alloc(20_000_000)));
  expect(text.length).toBeLessThan(2_000_000);
  expect(faults).toContain("compression_bomb");
});
