import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseIpv4, parseMac } from "../addresses.ts";
import { internetChecksum } from "../checksum.ts";
import { decodeEdp, type EdpItem, encodeEdp } from "./edp.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { SWITCH_EDP_FRAME } from "../testing/neighbor-frames.ts";
import { snapPayload } from "../testing/snap-payload.ts";

const EDP = snapPayload(SWITCH_EDP_FRAME);
const DEVICE = parseMac("52:54:00:aa:00:01") ?? new Uint8Array(0);

test("names the switch, its slot and port, and its software", () => {
  expect(decodeEdp(EDP)).toEqual({
    ok: true,
    value: {
      sequence: 0,
      checksum: 0x1b72,
      deviceId: DEVICE,
      items: [
        { kind: "display", name: "closet-switch" },
        {
          kind: "information", slot: 8, port: 0, virtualChassis: 0, version: 0x07060463,
          connections: fromHex("ffffffff000000000000000000000000"),
        },
      ],
    },
  });
  expect(internetChecksum(EDP)).toBe(0);
});

test("VLANs have number, address and a name up to its zero", () => {
  const vlan = fromHex("80 00 0032 00000000 0a32003f 41646d696e00 78 78");
  const head = fromHex("01 00 002a 0000 0001 0000 525400aa0001");
  const result = decodeEdp(joinBytes(head, fromHex("99 05 0018"), vlan, fromHex("99 00"), fromHex("0004 ffff")));
  expect(result).toMatchObject({
    ok: true, value: { sequence: 1, items: [{ kind: "vlan", flags: 0x80, vlanId: 50, address: parseIpv4("10.50.0.63"), name: "Admin" }] },
  });
});

test.each([
  ["another version", EDP.with(0, 2), 0],
  ["a device id that is no MAC", EDP.with(9, 1), 8],
  ["a length below its own header", EDP.with(3, 3), 2],
  ["a TLV without its marker", EDP.with(16, 0x98), 16],
  ["a TLV that runs past the end", EDP.with(19, 0xff), 16],
])("%s is a bad value", (_, bytes, offset) => {
  expect(decodeEdp(bytes)).toEqual({ ok: false, code: "bad-value", layer: "edp", offset });
});

test("whatever was encoded comes back", () => {
  const name = fc.string({ maxLength: 30 }).map((text) => text.replaceAll("\0", ""));
  const u16 = fc.nat(0xffff);
  const exactly = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const items: fc.Arbitrary<EdpItem> = fc.oneof(
    fc.record({ kind: fc.constant("display"), name }),
    fc.record({
      kind: fc.constant("information"), slot: u16, port: u16, virtualChassis: u16, version: fc.nat(0xffff_ffff), connections: exactly(16),
    }),
    fc.record({ kind: fc.constant("vlan"), flags: fc.nat(255), vlanId: u16, address: exactly(4), name }),
    fc.record({ kind: fc.constant("unknown"), type: fc.integer({ min: 6, max: 255 }), value: fc.uint8Array({ maxLength: 60 }) }),
  );
  fc.assert(fc.property(fc.record({ sequence: u16, deviceId: exactly(6), items: fc.array(items, { maxLength: 6 }) }), (pdu) => {
    const bytes = encodeEdp(pdu);
    expect(decodeEdp(bytes)).toMatchObject({ ok: true, value: pdu });
    expect(internetChecksum(bytes)).toBe(0);
  }));
  expect(encodeEdp({ sequence: 0, deviceId: DEVICE, items: [] })).toEqual(fromHex("0100001412e800000000525400aa000199000004"));
});

test("every truncation and 20,000 mutations end in a result", () => {
  expect(expectResults(decodeEdp, EDP, { seed: 14, shortest: EDP.length })).toBeGreaterThan(1000);
});
