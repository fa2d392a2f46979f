import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeIcmpv6, encodeIcmpv6 } from "./icmpv6.ts";
import { type NdpMessage, ndpLinkLayerAddress } from "./ndp.ts";
import { decodeNdpOptions, type NdpOption } from "./ndp-options.ts";
import { fromHex } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { DUPLICATE_ADDRESS_DETECTION, NEIGHBOR_ADVERTISEMENT, NEIGHBOR_SOLICITATION, ROUTER_SOLICITATION } from "../testing/real-frames.ts";

/** Managed, high preference, 1800 s; MAC, MTU 1500, a prefix for an hour, one resolver for ten minutes, and an option 38 (RFC 8781). */
const ROUTER_ADVERTISEMENT = fromHex(`
  86 00 0000 40 88 0708 00000000 000003e8
  0101 02000000000a
  0501 0000 000005dc
  0304 40 c0 00000e10 00000708 00000000 fd000009000000000000000000000000
  1903 0000 00000258 fd000009000000000000000000000001
  2602 0708 0064ff9b0000000000000000
`);

const REDIRECT = fromHex(`
  89 00 0000 00000000 fe80000000000000000000fffe00000b fd000009000000000000000000000007
  0201 02000000000b  0401 000000000000
`);

const ENDS = { source: fromHex("fe80000000000000000000fffe00000a"), destination: fromHex("ff020000000000000000000000000001") };
const MAC_A = fromHex("02000000000a");
const MAC_B = fromHex("02000000000b");

const decode = (bytes: Uint8Array) => {
  const result = decodeIcmpv6(bytes);
  if (!result.ok) throw new Error(`${result.layer} ${result.code} at ${result.offset}`);
  return result.value;
};

describe("a real message", () => {
  test("of a host looking for routers", () => {
    expect(decode(ROUTER_SOLICITATION.subarray(54))).toEqual({
      kind: "router-solicitation",
      options: [{ kind: "source-link-layer-address", address: MAC_A }],
    });
  });

  test("of a host looking for a neighbor", () => {
    expect(decode(NEIGHBOR_SOLICITATION.subarray(54))).toEqual({
      kind: "neighbor-solicitation",
      target: fromHex("fd000009000000000000000000000002"),
      options: [{ kind: "source-link-layer-address", address: MAC_A }],
    });
  });

  test("of the neighbor's answer", () => {
    expect(decode(NEIGHBOR_ADVERTISEMENT.subarray(54))).toEqual({
      kind: "neighbor-advertisement",
      isRouter: false,
      isSolicited: true,
      isOverride: true,
      target: fromHex("fd000009000000000000000000000002"),
      options: [{ kind: "target-link-layer-address", address: MAC_B }],
    });
  });

  test("of duplicate address detection, whose nonce is kept as bytes", () => {
    expect(decode(DUPLICATE_ADDRESS_DETECTION.subarray(54))).toMatchObject({
      options: [{ kind: "unknown", type: 14, data: fromHex("5cbd39205e9f") }],
    });
  });

  test("is encoded again to what Linux sent", () => {
    for (const frame of [ROUTER_SOLICITATION, NEIGHBOR_SOLICITATION, NEIGHBOR_ADVERTISEMENT, DUPLICATE_ADDRESS_DETECTION]) {
      const ends = { source: frame.subarray(22, 38), destination: frame.subarray(38, 54) };
      expect(encodeIcmpv6(decode(frame.subarray(54)), ends)).toEqual(frame.subarray(54));
    }
  });
});

test("a router advertisement gives its flags, timers and options", () => {
  expect(decode(ROUTER_ADVERTISEMENT)).toEqual({
    kind: "router-advertisement",
    hopLimit: 64,
    isManaged: true,
    hasOtherConfiguration: false,
    preference: "high",
    routerLifetimeSeconds: 1800,
    reachableTimeMs: 0,
    retransmissionTimerMs: 1000,
    options: [
      { kind: "source-link-layer-address", address: MAC_A },
      { kind: "mtu", mtu: 1500 },
      {
        kind: "prefix-information",
        prefixLength: 64,
        isOnLink: true,
        isAutonomous: true,
        validLifetimeSeconds: 3600,
        preferredLifetimeSeconds: 1800,
        prefix: fromHex("fd000009000000000000000000000000"),
      },
      { kind: "recursive-dns-servers", lifetimeSeconds: 600, servers: [fromHex("fd000009000000000000000000000001")] },
      { kind: "unknown", type: 38, data: fromHex("07080064ff9b0000000000000000") },
    ],
  });
});

test("a redirect gives the better hop and for whom", () => {
  expect(decode(REDIRECT)).toMatchObject({
    kind: "redirect",
    target: fromHex("fe80000000000000000000fffe00000b"),
    destination: fromHex("fd000009000000000000000000000007"),
    options: [{ kind: "target-link-layer-address", address: MAC_B }, { kind: "unknown", type: 4 }],
  });
});

test("the link-layer address is the one that the message is about", () => {
  const messageOf = (bytes: Uint8Array) => ndpLinkLayerAddress(decode(bytes) as NdpMessage);
  expect(messageOf(NEIGHBOR_SOLICITATION.subarray(54))).toEqual(MAC_A);
  expect(messageOf(NEIGHBOR_ADVERTISEMENT.subarray(54))).toEqual(MAC_B);
  expect(messageOf(DUPLICATE_ADDRESS_DETECTION.subarray(54))).toBeNull();
});

test("a code other than 0 is refused, as hosts do", () => {
  const bytes = NEIGHBOR_SOLICITATION.slice(54);
  bytes[1] = 1;
  expect(decodeIcmpv6(bytes)).toEqual({ ok: false, code: "bad-value", layer: "ndp", offset: 1 });
});

describe("options", () => {
  test("a length of zero is refused at its place in the message, instead of walking in place", () => {
    const bytes = NEIGHBOR_SOLICITATION.slice(54);
    bytes[25] = 0;
    expect(decodeIcmpv6(bytes)).toEqual({ ok: false, code: "bad-value", layer: "ndp-option", offset: 25 });
  });

  test("known ones with a length that they cannot have are refused", () => {
    for (const hex of ["0501000000000000 0502000000000000", "0301000000000000", "1901000000000000"]) {
      expect(decodeNdpOptions(fromHex(hex))).toMatchObject({ ok: false, layer: "ndp-option" });
    }
    const even = fromHex(`1904 0000 00000001 ${"00".repeat(24)}`);
    expect(decodeNdpOptions(even)).toEqual({ ok: false, code: "bad-value", layer: "ndp-option", offset: 1 });
  });
});

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const u32 = fc.nat(0xffff_ffff);
const option: fc.Arbitrary<NdpOption> = fc.oneof(
  fc.record({ kind: fc.constantFrom("source-link-layer-address" as const, "target-link-layer-address" as const), address: bytes(6) }),
  fc.record({ kind: fc.constant("mtu" as const), mtu: u32 }),
  fc.record({
    kind: fc.constant("recursive-dns-servers" as const),
    lifetimeSeconds: u32,
    servers: fc.array(bytes(16), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant("prefix-information" as const),
    prefixLength: fc.nat(128),
    isOnLink: fc.boolean(),
    isAutonomous: fc.boolean(),
    validLifetimeSeconds: u32,
    preferredLifetimeSeconds: u32,
    prefix: bytes(16),
  }),
  fc.record({ kind: fc.constant("unknown" as const), type: fc.integer({ min: 26, max: 255 }), data: bytes(14) }),
);
const options = fc.array(option, { maxLength: 4 });

test("survives a round trip", () => {
  const messages: fc.Arbitrary<NdpMessage> = fc.oneof(
    fc.record({ kind: fc.constant("router-solicitation" as const), options }),
    fc.record({
      kind: fc.constant("router-advertisement" as const),
      hopLimit: fc.nat(255),
      isManaged: fc.boolean(),
      hasOtherConfiguration: fc.boolean(),
      preference: fc.constantFrom("low" as const, "medium" as const, "high" as const, "reserved" as const),
      routerLifetimeSeconds: fc.nat(0xffff),
      reachableTimeMs: u32,
      retransmissionTimerMs: u32,
      options,
    }),
    fc.record({ kind: fc.constant("neighbor-solicitation" as const), target: bytes(16), options }),
    fc.record({
      kind: fc.constant("neighbor-advertisement" as const),
      isRouter: fc.boolean(),
      isSolicited: fc.boolean(),
      isOverride: fc.boolean(),
      target: bytes(16),
      options,
    }),
    fc.record({ kind: fc.constant("redirect" as const), target: bytes(16), destination: bytes(16), options }),
  );
  fc.assert(
    fc.property(messages, (message) => {
      expect(decodeIcmpv6(encodeIcmpv6(message, ENDS))).toEqual({ ok: true, value: message });
    }),
  );
});

test("what has no encoding is refused", () => {
  const bads: readonly NdpOption[] = [
    { kind: "source-link-layer-address", address: new Uint8Array(3000) },
    { kind: "recursive-dns-servers", lifetimeSeconds: 1, servers: [] },
    { kind: "recursive-dns-servers", lifetimeSeconds: 1, servers: [new Uint8Array(4)] },
    { kind: "mtu", mtu: -1 },
  ];
  for (const bad of bads) {
    const message = { kind: "router-solicitation", options: [bad] } as const;
    expect(() => encodeIcmpv6(message, ENDS)).toThrow(expect.objectContaining({ code: "unencodable" }));
  }
});

test("every truncation and 20,000 mutations end in a result", () => {
  expectResults(decodeIcmpv6, ROUTER_ADVERTISEMENT, { seed: 17, shortest: 16 });
  expectResults(decodeIcmpv6, REDIRECT, { seed: 18, shortest: 40 });
  expectResults(decodeIcmpv6, NEIGHBOR_ADVERTISEMENT.subarray(54), { seed: 19, shortest: 24 });
});
