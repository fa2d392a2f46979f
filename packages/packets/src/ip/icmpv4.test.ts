import * as fc from "fast-check";
import { expect, test } from "vitest";
import { internetChecksum } from "../checksum.ts";
import { decodeIcmpv4, encodeIcmpv4, type Icmpv4Message } from "./icmpv4.ts";
import { decodeIpv4 } from "./ipv4.ts";
import { expectResults } from "../testing/expect-results.ts";
import { ECHO_REQUEST, PORT_UNREACHABLE } from "../testing/real-frames.ts";

const ECHO = ECHO_REQUEST.subarray(34);
const UNREACHABLE = PORT_UNREACHABLE.subarray(34);

test("a real echo request gives identifier, sequence number and data", () => {
  expect(decodeIcmpv4(ECHO)).toEqual({
    ok: true,
    value: { kind: "echo-request", identifier: 77, sequenceNumber: 1, data: new TextEncoder().encode("lantern!") },
  });
});

test("a real error quotes the packet that caused it", () => {
  const result = decodeIcmpv4(UNREACHABLE);
  expect(result).toMatchObject({ ok: true, value: { kind: "error", type: 3, code: 3, parameter: 0 } });
  const original = result.ok && result.value.kind === "error" ? result.value.original : new Uint8Array(0);
  expect(decodeIpv4(original)).toMatchObject({ ok: true, value: { protocol: 17, identification: 0xee34 } });
});

test("what is encoded again is what Linux sent", () => {
  for (const bytes of [ECHO, UNREACHABLE]) {
    const result = decodeIcmpv4(bytes);
    expect(result.ok && encodeIcmpv4(result.value)).toEqual(bytes);
  }
});

test("survives a round trip, with a checksum that is right", () => {
  const bytes = fc.uint8Array({ maxLength: 60 });
  const messages: fc.Arbitrary<Icmpv4Message> = fc.oneof(
    fc.record({
      kind: fc.constantFrom("echo-request" as const, "echo-reply" as const),
      identifier: fc.nat(0xffff),
      sequenceNumber: fc.nat(0xffff),
      data: bytes,
    }),
    fc.record({
      kind: fc.constant("error" as const),
      type: fc.constantFrom(3, 4, 5, 11, 12),
      code: fc.nat(255),
      parameter: fc.nat(0xffff_ffff),
      original: bytes,
    }),
    fc.record({ kind: fc.constant("other" as const), type: fc.integer({ min: 13, max: 255 }), code: fc.nat(255), body: bytes }),
  );
  fc.assert(
    fc.property(messages, (message) => {
      const encoded = encodeIcmpv4(message);
      expect(decodeIcmpv4(encoded)).toEqual({ ok: true, value: message });
      expect(internetChecksum(encoded)).toBe(0);
    }),
  );
});

test("what has no encoding is refused", () => {
  const message = { kind: "echo-request", identifier: 70_000, sequenceNumber: 0, data: new Uint8Array(0) } as const;
  expect(() => encodeIcmpv4(message)).toThrow(expect.objectContaining({ code: "unencodable" }));
});

test("every truncation and 20,000 mutations end in a result", () => {
  expectResults(decodeIcmpv4, ECHO, { seed: 13, shortest: 8 });
  expectResults(decodeIcmpv4, UNREACHABLE, { seed: 14, shortest: 8 });
});
