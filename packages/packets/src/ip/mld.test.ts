import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { transportChecksum } from "../checksum.ts";
import { decodeFrame } from "../frame.ts";
import { encodeEthernet } from "../link/ethernet.ts";
import { decodeIcmpv6, encodeIcmpv6 } from "./icmpv6.ts";
import { encodeIpv6 } from "./ipv6.ts";
import { MLD_HOP_LIMIT, MLD_ROUTER_ALERT, type MldMessage, type MldQuery } from "./mld.ts";
import { ETHER_TYPE, IP_PROTOCOL } from "../numbers.ts";
import { fromHex } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { MULTICAST_LISTENER_REPORT } from "../testing/real-frames.ts";

const NO_ADDRESS = new Uint8Array(16);
const ENDS = { source: fromHex("fe80000000000000000000fffe00000a"), destination: fromHex("ff020000000000000000000000000001") };
const GENERAL_QUERY: MldQuery = {
  kind: "mld-query", maximumResponseDelayMs: 1000, group: NO_ADDRESS,
  version2: { suppressesTimers: false, robustness: 2, queryIntervalSeconds: 125, sources: [] },
};
const REPORT = MULTICAST_LISTENER_REPORT.subarray(62);

const decode = (bytes: Uint8Array) => {
  const result = decodeIcmpv6(bytes);
  if (!result.ok) throw new Error(`${result.layer} ${result.code} at ${result.offset}`);
  return result.value;
};

describe("multicast listener discovery", () => {
  test("a general query of version 2 lies behind a router alert, as tcpdump reads it", () => {
    // tcpdump 4.99.5: IP6 (hlim 1, next-header Options (0) payload length: 36) fe80::ff:fe00:a > ff02::1: HBH (rtalert: 0x0000) (padn)
    // [icmp6 sum ok] ICMP6, multicast listener query v2 [max resp delay=1000] [gaddr :: robustness=2 qqi=125]
    const packet = encodeIpv6({
      ...ENDS, protocol: IP_PROTOCOL.icmpv6, hopLimit: MLD_HOP_LIMIT, extensionHeaders: [MLD_ROUTER_ALERT],
      payload: encodeIcmpv6(GENERAL_QUERY, ENDS),
    });
    expect(packet).toEqual(fromHex(`
      60000000 0024 00 01 fe80000000000000000000fffe00000a ff020000000000000000000000000001
      3a 00 05020000 0100 82 00 7ab5 03e8 0000 00000000000000000000000000000000 02 7d 0000
    `));
    const frame = decodeFrame(encodeEthernet({
      destination: fromHex("333300000001"), source: fromHex("02000000000a"), etherType: ETHER_TYPE.ipv6, payload: packet,
    }));
    expect(frame).toMatchObject({ ok: true, value: { hopLimit: 1, icmpType: 130, transport: "icmpv6" } });
    expect(frame.ok && decode(frame.value.transportBytes)).toEqual(GENERAL_QUERY);
  });

  test("a real report names its groups", () => {
    const group = (text: string) => ({ type: 4, group: fromHex(text), sources: [], auxiliaryData: new Uint8Array(0) });
    expect(decode(REPORT)).toEqual({
      kind: "mld-version-2-report", records: [group("ff0200000000000000000001ff000001"), group("ff0200000000000000000001ff00000a")],
    });
  });

  test("a query of version 1 is recognized by its length", () => {
    expect(decode(fromHex("82 00 0000 2710 0000 ff020000000000000000000000000123"))).toEqual({
      kind: "mld-query", maximumResponseDelayMs: 10_000, group: fromHex("ff020000000000000000000000000123"), version2: null,
    });
    expect(decode(fromHex("83 00 0000 0000 0000 ff020000000000000000000000000123")).kind).toBe("mld-report");
    expect(decode(fromHex("84 00 0000 0000 0000 ff020000000000000000000000000123")).kind).toBe("mld-done");
  });

  test("large delays and intervals are floating", () => {
    const query = (code: string, qqic: string) =>
      decode(fromHex(`82 00 0000 ${code} 0000 00000000000000000000000000000000 0a ${qqic} 0000`));
    expect(query("8000", "80")).toMatchObject({
      maximumResponseDelayMs: 32_768, version2: { suppressesTimers: true, robustness: 2, queryIntervalSeconds: 128 },
    });
    expect(query("ffff", "ff")).toMatchObject({ maximumResponseDelayMs: 8_387_584, version2: { queryIntervalSeconds: 31_744 } });
  });

  test("survives a round trip, with a checksum that is right", () => {
    const address = fc.uint8Array({ minLength: 16, maxLength: 16 });
    const sources = fc.array(address, { maxLength: 3 });
    const floating = (bits: number) => fc.oneof(
      fc.nat((8 << bits) - 1),
      fc.tuple(fc.nat((1 << bits) - 1), fc.nat(7)).map(([mantissa, exponent]) => (mantissa + (1 << bits)) * 2 ** (exponent + 3)));
    const messages: fc.Arbitrary<MldMessage> = fc.oneof(
      fc.record({
        kind: fc.constant("mld-query" as const), maximumResponseDelayMs: floating(12), group: address,
        version2: fc.record({ suppressesTimers: fc.boolean(), robustness: fc.nat(7), queryIntervalSeconds: floating(4), sources }),
      }),
      fc.record({
        kind: fc.constant("mld-query" as const), maximumResponseDelayMs: fc.nat(0xffff), group: address, version2: fc.constant(null),
      }),
      fc.record({ kind: fc.constantFrom("mld-report" as const, "mld-done" as const), group: address }),
      fc.record({
        kind: fc.constant("mld-version-2-report" as const),
        records: fc.array(fc.record({
          type: fc.nat(255), group: address, sources, auxiliaryData: fc.nat(3).map((words) => new Uint8Array(words * 4).fill(words)),
        }), { maxLength: 3 }),
      }),
    );
    fc.assert(fc.property(messages, (message) => {
      const encoded = encodeIcmpv6(message, ENDS);
      expect(decode(encoded)).toEqual(message);
      expect(transportChecksum(encoded, 58, ENDS)).toBe(0);
    }));
  });

  test("what has no encoding is refused", () => {
    const { version2 } = GENERAL_QUERY;
    for (const wrong of [
      { ...GENERAL_QUERY, maximumResponseDelayMs: 8_387_585 }, { ...GENERAL_QUERY, group: new Uint8Array(4) },
      { ...GENERAL_QUERY, version2: version2 && { ...version2, robustness: 8 } },
      { ...GENERAL_QUERY, version2: null, maximumResponseDelayMs: 65_536 },
    ] as readonly MldMessage[]) expect(() => encodeIcmpv6(wrong, ENDS)).toThrow(expect.objectContaining({ code: "unencodable" }));
  });

  test("every truncation and 20,000 mutations end in a result", () => {
    expectResults(decodeIcmpv6, REPORT, { seed: 21, shortest: 8 });
    expectResults(decodeIcmpv6, encodeIcmpv6(GENERAL_QUERY, ENDS), { seed: 22, shortest: 24 });
  });
});
