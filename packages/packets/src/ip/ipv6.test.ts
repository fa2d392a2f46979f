import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeIpv6, encodeIpv6, type Ipv6Packet } from "./ipv6.ts";
import { MAX_EXTENSION_HEADERS } from "./ipv6-extensions.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { UDP_BEHIND_HOP_BY_HOP, UDP_OVER_IPV6 } from "../testing/real-frames.ts";

const PACKET = UDP_OVER_IPV6.subarray(14);
const HOP_BY_HOP = UDP_BEHIND_HOP_BY_HOP.subarray(14);

const SOURCE = fromHex("fd000009000000000000000000000001");
const DESTINATION = fromHex("fd000009000000000000000000000002");

const decode = (bytes: Uint8Array): Ipv6Packet => {
  const result = decodeIpv6(bytes);
  if (!result.ok) throw new Error(`${result.layer} ${result.code} at ${result.offset}`);
  return result.value;
};

/** One packet of the given first next-header and bytes behind the header. */
const packet = (nextHeader: number, hex: string) => {
  const rest = fromHex(hex);
  return joinBytes(fromHex("60000000"), Uint8Array.of(rest.length >>> 8, rest.length & 0xff, nextHeader, 64), SOURCE, DESTINATION, rest);
};

test("a real packet gives its fields", () => {
  expect(decode(PACKET)).toEqual({
    trafficClass: 0,
    flowLabel: 0xdfac4,
    hopLimit: 64,
    source: SOURCE,
    destination: DESTINATION,
    extensionHeaders: [],
    protocol: 17,
    fragmentOffset: 0,
    moreFragments: false,
    payload: PACKET.subarray(40),
  });
});

test("padding behind the payload length is no payload", () => {
  expect(decode(joinBytes(PACKET, new Uint8Array(9))).payload).toEqual(PACKET.subarray(40));
});

describe("extension headers", () => {
  test("a real hop-by-hop header is passed", () => {
    expect(decode(HOP_BY_HOP)).toMatchObject({
      protocol: 17,
      extensionHeaders: [{ type: 0, bytes: fromHex("1100050200000100") }],
      payload: HOP_BY_HOP.subarray(48),
    });
  });

  test("a chain of every kind is followed, each with its own way to count", () => {
    const chain = packet(
      0,
      `2b 00 000000000000  3c 01 00000000 ${"00".repeat(10)}  33 00 000000000000  87 04 0000 00000001 00000002 ${"00".repeat(12)}
       2c 00 010000000000  11 00 0001 00000007  0102`,
    );
    expect(decode(chain)).toMatchObject({ protocol: 17, fragmentOffset: 0, moreFragments: true, payload: fromHex("0102") });
    expect(decode(chain).extensionHeaders.map((header) => [header.type, header.bytes.length])).toEqual([
      [0, 8],
      [43, 16],
      [60, 8],
      [51, 24],
      [135, 8],
      [44, 8],
    ]);
  });

  test("a later fragment ends the chain, as what follows is the middle of something", () => {
    const later = decode(packet(44, "3c 00 05a9 00000007 ff ff ff ff"));
    expect(later).toMatchObject({ protocol: 60, fragmentOffset: 1448, moreFragments: true, payload: fromHex("ffffffff") });
  });

  test("encrypted payload ends the chain", () => {
    expect(decode(packet(50, "00000001 00000002 33ff"))).toMatchObject({ protocol: 50, extensionHeaders: [] });
  });

  test("a hop-by-hop header anywhere but first is refused", () => {
    expect(decodeIpv6(packet(60, "00 00 000000000000  3b 00 000000000000"))).toEqual({
      ok: false,
      code: "bad-value",
      layer: "ipv6-extension",
      offset: 48,
    });
  });

  test("a chain that is too long is refused, whatever its length", () => {
    const longest = "3c 00 000000000000".repeat(MAX_EXTENSION_HEADERS - 1);
    expect(decode(packet(60, `${longest} 3b 00 000000000000`))).toMatchObject({ protocol: 59 });
    expect(decodeIpv6(packet(60, "3c 00 000000000000".repeat(8000)))).toEqual({
      ok: false,
      code: "bad-value",
      layer: "ipv6-extension",
      offset: 40 + MAX_EXTENSION_HEADERS * 8,
    });
  });

  test("a header that claims more than there is is truncated", () => {
    expect(decodeIpv6(packet(43, "3b ff 0000"))).toEqual({ ok: false, code: "truncated", layer: "ipv6-extension", offset: 42 });
  });
});

test("another version is refused", () => {
  const bytes = PACKET.slice();
  bytes[0] = 0x45;
  expect(decodeIpv6(bytes)).toEqual({ ok: false, code: "bad-value", layer: "ipv6", offset: 0 });
});

test("a payload length of zero is an empty payload, unless there is more than the field could tell", () => {
  const bytes = PACKET.slice();
  bytes.set([0, 0], 4);
  expect(decode(bytes).payload).toHaveLength(0);
  expect(decode(joinBytes(bytes, new Uint8Array(66_000))).payload).toHaveLength(66_015);
});

test("what is encoded again is what Linux sent", () => {
  for (const bytes of [PACKET, HOP_BY_HOP]) expect(encodeIpv6(decode(bytes))).toEqual(bytes);
});

test("survives a round trip with extension headers", () => {
  const address = fc.uint8Array({ minLength: 16, maxLength: 16 });
  const destinationOptions = fc
    .tuple(fc.constantFrom(43, 60, 135), fc.nat(2))
    .chain(([type, eights]) =>
      fc
        .uint8Array({ minLength: 6 + eights * 8, maxLength: 6 + eights * 8 })
        .map((body) => ({ type, bytes: joinBytes(Uint8Array.of(0, eights), body) })),
    );
  const packets = fc.record({
    trafficClass: fc.nat(255),
    flowLabel: fc.nat(0xfffff),
    hopLimit: fc.nat(255),
    source: address,
    destination: address,
    protocol: fc.constantFrom(6, 17, 58, 59, 50, 200),
    extensionHeaders: fc.array(destinationOptions, { maxLength: 4 }),
    payload: fc.uint8Array({ minLength: 1, maxLength: 100 }),
  });
  fc.assert(
    fc.property(packets, (fields) => {
      const { extensionHeaders, ...rest } = decode(encodeIpv6(fields));
      const { extensionHeaders: before, ...expected } = fields;
      expect(rest).toMatchObject(expected);
      expect(extensionHeaders.map((header) => [header.type, header.bytes.subarray(1)])).toEqual(
        before.map((header) => [header.type, header.bytes.subarray(1)]),
      );
    }),
  );
});

test("what has no encoding is refused", () => {
  const fields = { protocol: 17, source: SOURCE, destination: DESTINATION, payload: new Uint8Array(0) };
  const bads = [
    { source: new Uint8Array(4) },
    { flowLabel: 0x100000 },
    { payload: new Uint8Array(65_536) },
    { extensionHeaders: [{ type: 17, bytes: new Uint8Array(8) }] },
    { extensionHeaders: [{ type: 60, bytes: new Uint8Array(9) }] },
  ];
  for (const bad of bads) expect(() => encodeIpv6({ ...fields, ...bad })).toThrow(expect.objectContaining({ code: "unencodable" }));
});

test("every truncation and 20,000 mutations end in a result", () => {
  expectResults(decodeIpv6, PACKET, { seed: 8, shortest: PACKET.length });
  expectResults(decodeIpv6, HOP_BY_HOP, { seed: 9, shortest: HOP_BY_HOP.length });
});
