import { deflateRawSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Inflater, type InflateState } from "./inflater.ts";

function inflate(pieces: readonly Uint8Array[], wanted = Number.MAX_SAFE_INTEGER): { readonly state: InflateState; readonly bytes: Buffer } {
  const out: Uint8Array[] = [];
  let length = 0;
  const inflater = new Inflater((bytes) => {
    out.push(bytes.slice());
    length += bytes.length;
    return length < wanted;
  });
  let state: InflateState = "more";
  for (const piece of pieces) state = inflater.push(piece);
  return { state, bytes: Buffer.concat(out) };
}

function expectText({ state, bytes }: ReturnType<typeof inflate>, text: Buffer): void {
  expect({ state, isEqual: bytes.equals(text) }).toEqual({ state: "over", isEqual: true });
}

/** Bytes with repeats far and near. */
function sample(length: number): Buffer {
  let seed = length + 1;
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    bytes[at] = seed % 7 === 0 && at > 40_000 ? (bytes[at - 32_768] as number) : (seed >> 16) % 90;
  }
  return bytes;
}

describe("a stream of DEFLATE", () => {
  test.each([
    ["stored blocks", { level: 0 }], ["fixed codes", { strategy: 4 }], ["Huffman codes alone", { strategy: 2 }], ["the best", { level: 9 }], ["runs", { strategy: 3 }],
  ])("of %s comes out as it went in, however it is cut", (_, options) => {
    for (const length of [0, 1, 300, 70_000, 200_000]) {
      const text = sample(length);
      const packed = deflateRawSync(text, options);
      expectText(inflate([packed]), text);
      const size = length > 1000 ? 97 : 1;
      const pieces = Array.from({ length: Math.ceil(packed.length / size) }, (_, index) => packed.subarray(index * size, (index + 1) * size));
      expectText(inflate(pieces), text);
    }
  });

  test("gives each byte as soon as its code is there", () => {
    const packed = deflateRawSync(Buffer.from("a text that is cut"));
    const { state, bytes } = inflate([packed.subarray(0, 12)]);
    expect(state).toBe("more");
    expect(bytes.toString()).toMatch(/^a text/);
  });

  test("stops when no more is wanted, whatever a few bytes would become", () => {
    const bomb = deflateRawSync(Buffer.alloc(50_000_000));
    const { state, bytes } = inflate([bomb], 100_000);
    expect(state).toBe("stopped");
    expect(bytes.length).toBeLessThan(200_000);
  });

  test("that is none is broken, or nothing", () => {
    expect(inflate([Buffer.from("Hello")]).state).toBe("broken");
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, cut) => {
      const whole = inflate([bytes], 1_000_000);
      expect(inflate([bytes.subarray(0, cut), bytes.subarray(cut)], 1_000_000)).toEqual(whole);
    }));
  });

  test("with changed bytes never throws", () => {
    fc.assert(fc.property(fc.string({ minLength: 20, maxLength: 2000 }), fc.nat(), fc.nat(255), (text, at, value) => {
      const packed = deflateRawSync(Buffer.from(text));
      packed[at % packed.length] = value;
      inflate([packed]);
    }));
  });
});
