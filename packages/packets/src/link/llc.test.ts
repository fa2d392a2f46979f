import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeLlc, encodeLlc, type LlcHeader } from "./llc.ts";
import { fromHex } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";

const SPANNING_TREE = fromHex("42 42 03 0000 00 00");
const SNAP = fromHex("aa aa 03 00000c 2000 02b4");

test("a bridge's frame has access points 0x42 and an unnumbered control byte", () => {
  expect(decodeLlc(SPANNING_TREE)).toEqual({
    ok: true,
    value: {
      destinationServiceAccessPoint: 0x42,
      sourceServiceAccessPoint: 0x42,
      control: 3,
      snap: null,
      payload: fromHex("00000000"),
    },
  });
});

test("SNAP tells whose protocol follows", () => {
  const snap = { organization: 0x00000c, protocol: 0x2000 };
  expect(decodeLlc(SNAP)).toMatchObject({ ok: true, value: { snap, payload: fromHex("02b4") } });
});

test("information frames have two control bytes", () => {
  expect(decodeLlc(fromHex("04 04 0102 55"))).toMatchObject({ ok: true, value: { control: 0x0102, payload: fromHex("55") } });
});

test("SNAP access points without unnumbered information are refused", () => {
  expect(decodeLlc(fromHex("aa aa bf 000000 0800"))).toEqual({ ok: false, code: "bad-value", layer: "llc", offset: 2 });
});

test("survives a round trip", () => {
  const control = fc.oneof(
    fc.nat(0xff).map((value) => value | 3),
    fc.nat(0xffff).filter((value) => (value & 0x0300) !== 0x0300 && value > 0xff),
  );
  const plain: fc.Arbitrary<LlcHeader> = fc.record({
    destinationServiceAccessPoint: fc.nat(0xa9),
    sourceServiceAccessPoint: fc.nat(0xff),
    control,
    snap: fc.constant(null),
    payload: fc.uint8Array({ maxLength: 50 }),
  });
  const snap: fc.Arbitrary<LlcHeader> = fc.record({
    destinationServiceAccessPoint: fc.constant(0xaa),
    sourceServiceAccessPoint: fc.constant(0xaa),
    control: fc.constant(3),
    snap: fc.record({ organization: fc.nat(0xffffff), protocol: fc.nat(0xffff) }),
    payload: fc.uint8Array({ maxLength: 50 }),
  });
  fc.assert(
    fc.property(fc.oneof(plain, snap), (header) => {
      expect(decodeLlc(encodeLlc(header))).toEqual({ ok: true, value: header });
    }),
  );
});

test("every truncation and 20,000 mutations end in a result", () => {
  expectResults(decodeLlc, SNAP, { seed: 3, shortest: 8 });
  expectResults(decodeLlc, SPANNING_TREE, { seed: 4, shortest: 3 });
});
