import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatIpv6, parseIpv6 } from "../addresses.ts";
import { readCapture } from "../capture-file/capture-file.ts";
import { decodeFrame } from "../frame.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { everyTruncation, seededMutations } from "../testing/hostile.ts";
import {
  decodeDhcpv6, DHCPV6_OPTION, DHCPV6_TYPE, dhcpv6ClientId, dhcpv6DnsServers, dhcpv6Inner, dhcpv6Leases, type Dhcpv6Message, dhcpv6Option,
  dhcpv6ServerId, encodeDhcpv6,
} from "./dhcpv6.ts";

const FOLDER = fileURLToPath(new URL("../../../../../shared/data/captures/tcpdump/", import.meta.url));
const ip = (text: string) => parseIpv6(text) as Uint8Array;

/** Client, server, an address of an IA_NA, a prefix of an IA_PD, two name servers. */
const ADVERTISE = fromHex(`
  02 123456
  0001 000a 00030001 02004c4f4f50
  0002 000e 00010001 2a3b4c5d 00aabbccddee
  0003 0028 00000001 00000e10 00001518 0005 0018 20010db8000000000000000000000042 00001c20 00003840
  0019 0029 00000001 00000e10 00001518 001a 0019 00001c20 00003840 38 20010db8000100000000000000000000
  0017 0020 fe800000000000000000000000000001 20010db8000000000000000000000053
`);

/** A relay's message with another inside. */
const around = (inner: Uint8Array, type = "0d") =>
  joinBytes(fromHex(`${type} 00 20010db8000000000000000000000001 fe800000000000000000000000000099 0012 0004 65746830 0009`),
    Uint8Array.of(inner.length >> 8, inner.length & 255), inner);

function read(bytes: Uint8Array): Dhcpv6Message {
  const result = decodeDhcpv6(bytes);
  if (!result.ok) throw new Error(`${result.code} at ${result.offset}`);
  return result.value;
}

describe("decoding", () => {
  test("a server's message says who it is and what it leases", () => {
    const message = read(ADVERTISE);
    expect(message).toMatchObject({ kind: "exchange", type: DHCPV6_TYPE.advertise, transactionId: 0x123456 });
    const { options } = message;
    expect(dhcpv6ServerId(options)).toEqual(fromHex("00010001 2a3b4c5d 00aabbccddee"));
    expect(dhcpv6ClientId(options)).toEqual(fromHex("00030001 02004c4f4f50"));
    expect(dhcpv6DnsServers(options)?.map((address) => formatIpv6(address))).toEqual(["fe80::1", "2001:db8::53"]);
    expect(dhcpv6Leases(options)).toEqual([
      { address: ip("2001:db8::42"), prefixLength: 128, preferredSeconds: 7200, validSeconds: 14_400 },
      { address: ip("2001:db8:1::"), prefixLength: 56, preferredSeconds: 7200, validSeconds: 14_400 },
    ]);
    expect(dhcpv6Option(options, DHCPV6_OPTION.domainList)).toBeNull();
  });

  test("relays are opened up to the message within", () => {
    const inner = dhcpv6Inner(read(around(around(ADVERTISE))));
    expect(inner?.message).toEqual(read(ADVERTISE));
    expect(inner?.relay).toMatchObject({ type: DHCPV6_TYPE.relayReply, linkAddress: ip("2001:db8::1"), peerAddress: ip("fe80::99") });
    expect(dhcpv6Inner(read(ADVERTISE))?.relay).toBeNull();
  });

  test("more relays than a message may pass, a relay without a message, and one with a broken message give nothing", () => {
    const nested = (depth: number) => Array.from({ length: depth }).reduce<Uint8Array>((inner) => around(inner), ADVERTISE);
    expect(dhcpv6Inner(read(nested(8)))).not.toBeNull();
    expect(dhcpv6Inner(read(nested(9)))).toBeNull();
    expect(dhcpv6Inner(read(around(ADVERTISE).subarray(0, 34)))).toBeNull();
    expect(dhcpv6Inner(read(around(ADVERTISE.subarray(0, 40), "0c")))).toBeNull();
  });

  test("a broken option costs that option alone", () => {
    const { options } = read(fromHex("07 000001 0002 0002 0001 0017 0011 fe80000000000000000000000000000100 0003 0004 00000001 0003 0010 00000001 00000000 00000000 0005 00ff"));
    expect([dhcpv6ServerId(options), dhcpv6DnsServers(options), dhcpv6Leases(options)]).toEqual([null, null, []]);
  });

  test("type 0 is a bad value", () => {
    expect(decodeDhcpv6(ADVERTISE.with(0, 0))).toMatchObject({ ok: false, code: "bad-value", offset: 0 });
  });
});

describe("hostile input", () => {
  const look = (bytes: Uint8Array) => {
    const result = decodeDhcpv6(bytes);
    if (!result.ok) return false;
    const { options } = dhcpv6Inner(result.value)?.message ?? { options: [] };
    for (const reader of [dhcpv6ServerId, dhcpv6ClientId, dhcpv6DnsServers, dhcpv6Leases]) reader(options);
    return true;
  };

  test("every truncation ends in a result, those between options in a message", () => {
    const ends = new Set([4, 18, 36, 80, 125]);
    for (const cut of everyTruncation(ADVERTISE)) expect(look(cut)).toBe(ends.has(cut.length));
    for (const cut of everyTruncation(around(ADVERTISE))) expect(() => look(cut)).not.toThrow();
  });

  test("mutations never throw", () => {
    let read = 0;
    for (const bytes of seededMutations(around(ADVERTISE), 20_000, 8415)) if (look(bytes)) read += 1;
    expect(read).toBeGreaterThan(1000);
    expect(read).toBeLessThan(19_000);
  });
});

test("what is encoded comes back", () => {
  const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const options = fc.array(fc.record({ code: fc.nat(0xffff), data: fc.uint8Array({ maxLength: 300 }) }), { maxLength: 6 });
  const exchanges = fc.record({
    kind: fc.constant("exchange" as const), type: fc.constantFrom(1, 2, 7, 11, 200), transactionId: fc.nat(0xff_ffff), options,
  });
  const relays = fc.record({
    kind: fc.constant("relay" as const), type: fc.constantFrom(12 as const, 13 as const), hopCount: fc.nat(255), linkAddress: bytesOf(16), peerAddress: bytesOf(16), options,
  });
  fc.assert(fc.property(fc.oneof(exchanges, relays), (message) => {
    expect(decodeDhcpv6(encodeDhcpv6(message))).toEqual({ ok: true, value: message });
  }));
});

test.each([
  ["a transaction id beyond 24 bits", { kind: "exchange", type: 1, transactionId: 2 ** 24, options: [] }],
  ["an option beyond 16 bits", { kind: "exchange", type: 1, transactionId: 1, options: [{ code: 65_536, data: new Uint8Array(0) }] }],
  ["an address of four bytes", { kind: "relay", type: 12, hopCount: 0, linkAddress: new Uint8Array(4), peerAddress: new Uint8Array(16), options: [] }],
] as const)("%s has no encoding", (_, message) => {
  expect(() => encodeDhcpv6(message)).toThrow(expect.objectContaining({ code: "unencodable" }));
});

test.skipIf(!existsSync(FOLDER)).each([
  ["dhcpv6-ia-na.pcap", [1, 2, 3, 7], 1],
  ["dhcpv6-ia-pd.pcap", [1, 2, 3, 7], 1],
] as const)("the exchange of %s is read whole", (name, types, leases) => {
  const messages = readCapture(readFileSync(FOLDER + name)).records.flatMap(({ bytes }) => {
    const frame = decodeFrame(bytes);
    return frame.ok && frame.value.transport === "udp" ? [read(frame.value.payload)] : [];
  });
  expect(messages.map(({ type }) => type)).toEqual(types);
  expect(dhcpv6Leases(messages.at(-1)?.options ?? [])).toHaveLength(leases);
  expect(dhcpv6ServerId(messages.at(-1)?.options ?? [])).not.toBeNull();
});
