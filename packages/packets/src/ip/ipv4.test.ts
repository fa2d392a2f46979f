import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { internetChecksum } from "../checksum.ts";
import { decodeIpv4, encodeIpv4, type Ipv4Packet } from "./ipv4.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { UDP, UDP_WITH_IP_OPTIONS } from "../testing/real-frames.ts";

const PACKET = UDP.subarray(14);
const WITH_OPTIONS = UDP_WITH_IP_OPTIONS.subarray(14);

const decode = (bytes: Uint8Array): Ipv4Packet => {
  const result = decodeIpv4(bytes);
  if (!result.ok) throw new Error(`${result.layer} ${result.code} at ${result.offset}`);
  return result.value;
};

/** `PACKET` with other bytes at one place. */
const changed = (at: number, ...values: readonly number[]) => {
  const bytes = PACKET.slice();
  bytes.set(values, at);
  return bytes;
};

test("a real packet gives its fields", () => {
  expect(decode(PACKET)).toEqual({
    typeOfService: 0,
    identification: 0xee34,
    dontFragment: true,
    moreFragments: false,
    fragmentOffset: 0,
    timeToLive: 64,
    protocol: 17,
    headerChecksum: 0x3881,
    source: fromHex("0a090001"),
    destination: fromHex("0a090002"),
    options: new Uint8Array(0),
    payload: PACKET.subarray(20),
  });
});

test("options are kept as bytes, and the payload begins behind them", () => {
  expect(decode(WITH_OPTIONS)).toMatchObject({ options: fromHex("0707080a09000100"), payload: WITH_OPTIONS.subarray(28) });
});

test("padding behind the total length is no payload", () => {
  expect(decode(joinBytes(PACKET, new Uint8Array(20))).payload).toEqual(PACKET.subarray(20));
});

test("fragments tell their place in bytes", () => {
  expect(decode(changed(6, 0x20, 0xb9))).toMatchObject({ moreFragments: true, dontFragment: false, fragmentOffset: 1480 });
});

describe("refused", () => {
  test.each([
    ["another version", changed(0, 0x65), "bad-value", 0],
    ["a header length below twenty", changed(0, 0x44), "bad-value", 0],
    ["a header length beyond the end", changed(0, 0x4f), "truncated", 20],
    ["a total length below the header's", changed(2, 0, 19), "bad-value", 2],
    ["a total length beyond the end", changed(2, 0xff, 0xff), "truncated", 35],
  ] as const)("%s", (_, bytes, code, offset) => {
    expect(decodeIpv4(bytes)).toEqual({ ok: false, code, layer: "ipv4", offset });
  });
});

test.each([0, 70_000])("a total length of zero, which segmentation offload leaves, means everything: %d bytes more", (more) => {
  expect(decode(joinBytes(changed(2, 0, 0), new Uint8Array(more))).payload).toHaveLength(15 + more);
});

test("an authentication header is payload, as the header says", () => {
  const packet = { protocol: 51, source: PACKET.subarray(12, 16), destination: PACKET.subarray(16, 20), payload: fromHex("1104") };
  expect(decode(encodeIpv4(packet))).toMatchObject({ protocol: 51, options: new Uint8Array(0), payload: fromHex("1104") });
});

test("what is encoded again is what Linux sent, checksum included", () => {
  for (const bytes of [PACKET, WITH_OPTIONS]) expect(encodeIpv4(decode(bytes))).toEqual(bytes);
});

test("survives a round trip, with a checksum that is right", () => {
  const address = fc.uint8Array({ minLength: 4, maxLength: 4 });
  const packets: fc.Arbitrary<Omit<Ipv4Packet, "headerChecksum">> = fc.record({
    typeOfService: fc.nat(255),
    identification: fc.nat(0xffff),
    dontFragment: fc.boolean(),
    moreFragments: fc.boolean(),
    fragmentOffset: fc.nat(0x1fff).map((eights) => eights * 8),
    timeToLive: fc.nat(255),
    protocol: fc.nat(255),
    source: address,
    destination: address,
    options: fc.nat(10).chain((words) => fc.uint8Array({ minLength: words * 4, maxLength: words * 4 })),
    payload: fc.uint8Array({ maxLength: 100 }),
  });
  fc.assert(
    fc.property(packets, (packet) => {
      const bytes = encodeIpv4(packet);
      expect(decode(bytes)).toMatchObject(packet);
      expect(internetChecksum(bytes, 0, 20 + packet.options.length)).toBe(0);
    }),
  );
});

test("what has no encoding is refused", () => {
  const packet = { protocol: 17, source: new Uint8Array(4), destination: new Uint8Array(4), payload: new Uint8Array(0) };
  for (const bad of [
    { source: new Uint8Array(16) },
    { options: new Uint8Array(3) },
    { options: new Uint8Array(44) },
    { fragmentOffset: 12 },
    { payload: new Uint8Array(65_530) },
    { timeToLive: 256 },
    { identification: -1 },
    { typeOfService: 256 },
  ]) {
    expect(() => encodeIpv4({ ...packet, ...bad })).toThrow(expect.objectContaining({ code: "unencodable" }));
  }
});

test("every truncation and 20,000 mutations end in a result", () => {
  expectResults(decodeIpv4, PACKET, { seed: 6, shortest: PACKET.length });
  expectResults(decodeIpv4, WITH_OPTIONS, { seed: 7, shortest: WITH_OPTIONS.length });
});
