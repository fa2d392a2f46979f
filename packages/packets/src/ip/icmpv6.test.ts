import * as fc from "fast-check";
import { expect, test } from "vitest";
import { transportChecksum } from "../checksum.ts";
import { decodeIcmpv6, encodeIcmpv6, type Icmpv6Message } from "./icmpv6.ts";
import { decodeIpv6 } from "./ipv6.ts";
import { expectResults } from "../testing/expect-results.ts";
import { ECHO_REQUEST_OVER_IPV6, MULTICAST_LISTENER_REPORT, PORT_UNREACHABLE_OVER_IPV6 } from "../testing/real-frames.ts";

const ECHO = ECHO_REQUEST_OVER_IPV6.subarray(54);
const UNREACHABLE = PORT_UNREACHABLE_OVER_IPV6.subarray(54);
const REPORT = MULTICAST_LISTENER_REPORT.subarray(62);

const endsOf = (frame: Uint8Array) => ({ source: frame.subarray(22, 38), destination: frame.subarray(38, 54) });

test("a real echo request gives identifier, sequence number and data", () => {
  expect(decodeIcmpv6(ECHO)).toEqual({
    ok: true,
    value: { kind: "echo-request", identifier: 77, sequenceNumber: 1, data: new TextEncoder().encode("lantern!") },
  });
});

test("a real error quotes the packet that caused it", () => {
  const result = decodeIcmpv6(UNREACHABLE);
  expect(result).toMatchObject({ ok: true, value: { kind: "error", type: 1, code: 4, parameter: 0 } });
  const original = result.ok && result.value.kind === "error" ? result.value.original : new Uint8Array(0);
  expect(decodeIpv6(original)).toMatchObject({ ok: true, value: { protocol: 17 } });
});

test("a type of another protocol is kept as bytes", () => {
  const bytes = Uint8Array.of(151, 0, 0, 0, 1, 2, 3, 4);
  expect(decodeIcmpv6(bytes)).toEqual({ ok: true, value: { kind: "other", type: 151, code: 0, body: bytes.subarray(4) } });
});

test("what is encoded again is what Linux sent", () => {
  for (const [bytes, frame] of [
    [ECHO, ECHO_REQUEST_OVER_IPV6],
    [UNREACHABLE, PORT_UNREACHABLE_OVER_IPV6],
    [REPORT, MULTICAST_LISTENER_REPORT],
  ] as const) {
    const result = decodeIcmpv6(bytes);
    expect(result.ok && encodeIcmpv6(result.value, endsOf(frame))).toEqual(bytes);
  }
});

test("survives a round trip, with a checksum that is right", () => {
  const bytes = fc.uint8Array({ maxLength: 60 });
  const messages: fc.Arbitrary<Icmpv6Message> = fc.oneof(
    fc.record({
      kind: fc.constantFrom("echo-request" as const, "echo-reply" as const),
      identifier: fc.nat(0xffff),
      sequenceNumber: fc.nat(0xffff),
      data: bytes,
    }),
    fc.record({
      kind: fc.constant("error" as const),
      type: fc.integer({ min: 1, max: 4 }),
      code: fc.nat(255),
      parameter: fc.nat(0xffff_ffff),
      original: bytes,
    }),
    fc.record({ kind: fc.constant("other" as const), type: fc.integer({ min: 144, max: 255 }), code: fc.nat(255), body: bytes }),
  );
  const ends = endsOf(ECHO_REQUEST_OVER_IPV6);
  fc.assert(
    fc.property(messages, (message) => {
      const encoded = encodeIcmpv6(message, ends);
      expect(decodeIcmpv6(encoded)).toEqual({ ok: true, value: message });
      expect(transportChecksum(encoded, 58, ends)).toBe(0);
    }),
  );
});

test("what has no encoding is refused", () => {
  const message = { kind: "other", type: 256, code: 0, body: new Uint8Array(0) } as const;
  expect(() => encodeIcmpv6(message, endsOf(ECHO_REQUEST_OVER_IPV6))).toThrow(expect.objectContaining({ code: "unencodable" }));
});

test("every truncation and 20,000 mutations end in a result", () => {
  expectResults(decodeIcmpv6, ECHO, { seed: 15, shortest: 8 });
  expectResults(decodeIcmpv6, UNREACHABLE, { seed: 16, shortest: 8 });
});
