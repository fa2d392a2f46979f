import { expect, test } from "vitest";
import { encodeTlv, readAll, readTlv, tlvSize } from "./asn1.ts";
import { fromHex } from "./testing/bytes.ts";

test.each([0, 1, 127, 128, 255, 256, 65_535])("an element of %i octets is read as it was written, and its size is known before it is whole", (octets) => {
  const element = encodeTlv(0x30, new Uint8Array(octets).fill(7));
  expect(readTlv(element)).toEqual({ tag: 0x30, value: new Uint8Array(octets).fill(7), size: element.length });
  for (let length = 0; length < element.length; length += Math.max(1, length >> 3)) {
    const part = element.subarray(0, length);
    expect(readTlv(part)).toBeNull();
    const head = octets < 128 ? 2 : octets < 256 ? 3 : 4;
    expect(tlvSize(part)).toBe(length < head ? null : element.length);
  }
});

test.each([["3080", "bad"], ["3085", "bad"], ["30ff", "bad"], ["308400100001", "bad"], ["308400100000", 1_048_582], ["30", null], ["", null], ["3082ff", null]] as const)("of %s the size is %s", (hex, size) => {
  expect(tlvSize(fromHex(hex))).toBe(size);
  expect(readTlv(fromHex(hex))).toBeNull();
});

test("of several elements those that are whole are read", () => {
  expect(readAll(fromHex("0201050201060201")).map(({ value }) => value[0])).toEqual([5, 6]);
});
