import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeEthernet, encodeEthernet, type EthernetFrame } from "./ethernet.ts";
import { fromHex } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { ARP_REQUEST } from "../testing/real-frames.ts";
import type { VlanTag } from "./vlan.ts";

/** A provider's tag (200) around a customer's (2001) around an empty ARP. */
const STACKED = fromHex("ffffffffffff 0020d25afb3f 88a8 20c8 8100 17d1 0806 0001");

const mac = fc.uint8Array({ minLength: 6, maxLength: 6 });
const vlanTag: fc.Arbitrary<VlanTag> = fc.record({
  protocol: fc.constantFrom(0x8100, 0x88a8, 0x9100),
  priority: fc.nat(7),
  isDropEligible: fc.boolean(),
  vlanId: fc.nat(4095),
});
const frames: fc.Arbitrary<EthernetFrame> = fc.record({
  destination: mac,
  source: mac,
  vlanTags: fc.array(vlanTag, { maxLength: 4 }),
  etherType: fc.option(
    fc.integer({ min: 0x600, max: 0xffff }).filter((type) => ![0x8100, 0x88a8, 0x9100].includes(type)),
  ),
  payload: fc.uint8Array({ maxLength: 200 }),
});

const decode = (bytes: Uint8Array): EthernetFrame => {
  const result = decodeEthernet(bytes);
  if (!result.ok) throw new Error(`${result.layer} ${result.code} at ${result.offset}`);
  return result.value;
};

test("a real frame gives its addresses, type and payload", () => {
  expect(decode(ARP_REQUEST)).toEqual({
    destination: fromHex("ffffffffffff"),
    source: fromHex("02000000000a"),
    vlanTags: [],
    etherType: 0x0806,
    payload: ARP_REQUEST.subarray(14),
  });
});

describe("VLAN tags", () => {
  test("are read outermost first", () => {
    const frame = decode(STACKED);
    expect(frame.etherType).toBe(0x0806);
    expect(frame.vlanTags).toEqual([
      { protocol: 0x88a8, priority: 1, isDropEligible: false, vlanId: 200 },
      { protocol: 0x8100, priority: 0, isDropEligible: true, vlanId: 2001 },
    ]);
  });

  test("a fifth one is refused at its place", () => {
    const bytes = fromHex(`ffffffffffff 02000000000a ${"8100 0001 ".repeat(5)} 0800`);
    expect(decodeEthernet(bytes)).toEqual({ ok: false, code: "bad-value", layer: "vlan", offset: 28 });
  });

  test("a frame of tags alone ends in time", () => {
    const bytes = new Uint8Array(60_000);
    for (let at = 12; at < bytes.length; at += 4) bytes[at] = 0x81;
    expect(decodeEthernet(bytes)).toMatchObject({ ok: false, code: "bad-value", layer: "vlan" });
  });
});

describe("802.3 frames with a length", () => {
  const SPANNING_TREE = fromHex("0180c2000000 02000000000a 0003 42 42 03 0000000000");

  test("have no EtherType, and their payload ends with the length", () => {
    expect(decode(SPANNING_TREE)).toMatchObject({ etherType: null, payload: fromHex("424203") });
  });

  test("a length beyond the end is truncated", () => {
    const bytes = SPANNING_TREE.slice();
    bytes[13] = 200;
    expect(decodeEthernet(bytes)).toEqual({ ok: false, code: "truncated", layer: "ethernet", offset: bytes.length });
  });

  test("the values between lengths and types are refused", () => {
    const bytes = SPANNING_TREE.slice();
    bytes.set([0x05, 0xdd], 12);
    expect(decodeEthernet(bytes)).toEqual({ ok: false, code: "bad-value", layer: "ethernet", offset: 12 });
  });
});

test("survives a round trip", () => {
  fc.assert(
    fc.property(frames, (frame) => {
      expect(decode(encodeEthernet({ ...frame, minimumLength: 0 }))).toEqual(frame);
    }),
  );
});

test("short frames are padded to sixty bytes, which belong to no layer", () => {
  const frame = { destination: new Uint8Array(6), source: new Uint8Array(6), etherType: 0x0806, payload: fromHex("0102") };
  expect(encodeEthernet(frame)).toHaveLength(60);
  expect(decode(encodeEthernet({ ...frame, etherType: null })).payload).toEqual(fromHex("0102"));
});

test("what has no encoding is refused", () => {
  const frame = { destination: new Uint8Array(6), source: new Uint8Array(6), etherType: 0x0806, payload: new Uint8Array(0) };
  const tag = { protocol: 0x8100, priority: 0, isDropEligible: false, vlanId: 5000 };
  const bads = [
    { source: new Uint8Array(4) },
    { etherType: 12 },
    { etherType: null, payload: new Uint8Array(1501) },
    { vlanTags: [tag] },
    { vlanTags: [{ ...tag, vlanId: 1, protocol: 0x0800 }] },
  ];
  for (const bad of bads) {
    expect(() => encodeEthernet({ ...frame, ...bad })).toThrow(expect.objectContaining({ code: "unencodable" }));
  }
});

test("every truncation and 20,000 mutations end in a result", () => {
  expectResults(decodeEthernet, ARP_REQUEST, { seed: 1, shortest: 14 });
  expectResults(decodeEthernet, STACKED, { seed: 2, shortest: 22 });
});
