import * as fc from "fast-check";
import { expect, test } from "vitest";
import { transportChecksum } from "../checksum.ts";
import { fromHex } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { UDP, UDP_OVER_IPV6 } from "../testing/real-frames.ts";
import { decodeUdp, encodeUdp } from "./udp.ts";

const DATAGRAM = UDP.subarray(34);

const changedLength = (length: number) => {
  const bytes = DATAGRAM.slice();
  bytes.set([length >>> 8, length & 0xff], 4);
  return bytes;
};

test("a real datagram gives ports, checksum and payload", () => {
  expect(decodeUdp(DATAGRAM)).toEqual({
    ok: true,
    value: { sourcePort: 40_000, destinationPort: 9, checksum: 0xa129, payload: new TextEncoder().encode("lantern") },
  });
});

test("the payload ends with the length, not with the bytes", () => {
  expect(decodeUdp(changedLength(10))).toMatchObject({ ok: true, value: { payload: fromHex("6c61") } });
});

test("lengths that cannot be are refused", () => {
  expect(decodeUdp(changedLength(7))).toEqual({ ok: false, code: "bad-value", layer: "udp", offset: 4 });
  expect(decodeUdp(changedLength(16))).toEqual({ ok: false, code: "truncated", layer: "udp", offset: 15 });
});

test("what is encoded is what Linux sent, in both families", () => {
  const datagram = { sourcePort: 40_000, destinationPort: 9, payload: new TextEncoder().encode("lantern") };
  expect(encodeUdp(datagram, { source: UDP.subarray(26, 30), destination: UDP.subarray(30, 34) })).toEqual(DATAGRAM);
  const ends = { source: UDP_OVER_IPV6.subarray(22, 38), destination: UDP_OVER_IPV6.subarray(38, 54) };
  expect(encodeUdp(datagram, ends)).toEqual(UDP_OVER_IPV6.subarray(54));
});

test("a checksum that comes out as zero is sent as ones, as zero means none", () => {
  // The payload is the complement of everything else's sum.
  const ends = { source: new Uint8Array(4), destination: new Uint8Array(4) };
  const bytes = encodeUdp({ sourcePort: 0, destinationPort: 0, payload: fromHex("ffda") }, ends);
  expect(decodeUdp(bytes)).toMatchObject({ ok: true, value: { checksum: 0xffff } });
});

test("survives a round trip, with a checksum that is right", () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const address = fc.constantFrom(4, 16).chain((length) => fc.tuple(bytes(length), bytes(length)));
  const datagrams = fc.record({ sourcePort: fc.nat(0xffff), destinationPort: fc.nat(0xffff), payload: fc.uint8Array({ maxLength: 100 }) });
  fc.assert(
    fc.property(datagrams, address, (datagram, [source, destination]) => {
      const bytes = encodeUdp(datagram, { source, destination });
      expect(decodeUdp(bytes)).toMatchObject({ ok: true, value: datagram });
      expect(transportChecksum(bytes, 17, { source, destination })).toBe(0);
    }),
  );
});

test("what has no encoding is refused", () => {
  const ends = { source: new Uint8Array(4), destination: new Uint8Array(4) };
  const datagram = { sourcePort: 1, destinationPort: 2, payload: new Uint8Array(0) };
  for (const bad of [{ sourcePort: 70_000 }, { destinationPort: 1.5 }, { payload: new Uint8Array(65_528) }]) {
    expect(() => encodeUdp({ ...datagram, ...bad }, ends)).toThrow(expect.objectContaining({ code: "unencodable" }));
  }
});

test("every truncation and 20,000 mutations end in a result", () => {
  expectResults(decodeUdp, DATAGRAM, { seed: 10, shortest: DATAGRAM.length });
});
