import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type ArpPacket, decodeArp, encodeArp } from "./arp.ts";
import { encodeEthernet } from "./ethernet.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { ARP_REPLY, ARP_REQUEST } from "../testing/real-frames.ts";

const REQUEST = ARP_REQUEST.subarray(14);

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test("a real reply tells who answers whom", () => {
  expect(decodeArp(ARP_REPLY.subarray(14))).toEqual({
    ok: true,
    value: {
      hardwareType: 1,
      protocolType: 0x0800,
      operation: 2,
      senderHardwareAddress: fromHex("02000000000b"),
      senderProtocolAddress: fromHex("0a090002"),
      targetHardwareAddress: fromHex("02000000000a"),
      targetProtocolAddress: fromHex("0a090001"),
    },
  });
});

test("a request is encoded to the bytes that Linux sends, padded to sixty", () => {
  const payload = encodeArp({
    operation: 1,
    senderHardwareAddress: fromHex("02000000000a"),
    senderProtocolAddress: fromHex("0a090001"),
    targetHardwareAddress: new Uint8Array(6),
    targetProtocolAddress: fromHex("0a090002"),
  });
  const frame = encodeEthernet({ destination: fromHex("ffffffffffff"), source: fromHex("02000000000a"), etherType: 0x0806, payload });
  expect(frame).toEqual(joinBytes(ARP_REQUEST, new Uint8Array(18)));
});

test("lengths that do not fit Ethernet or IPv4 are refused at their bytes", () => {
  const bad = REQUEST.slice();
  bad[4] = 5;
  expect(decodeArp(bad)).toEqual({ ok: false, code: "bad-value", layer: "arp", offset: 4 });
  bad.set([6, 5], 4);
  expect(decodeArp(joinBytes(bad, new Uint8Array(2)))).toEqual({ ok: false, code: "bad-value", layer: "arp", offset: 5 });
});

test("lengths far beyond the end are truncated, whatever they claim", () => {
  expect(decodeArp(fromHex("0020 86dd ff ff 0001 00"))).toEqual({ ok: false, code: "truncated", layer: "arp", offset: 8 });
});

test("survives a round trip with addresses of any length", () => {
  const packets: fc.Arbitrary<ArpPacket> = fc
    .tuple(fc.constantFrom([1, 0x0800, 6, 4], [1, 0x86dd, 6, 16], [6, 0x0800, 6, 4], [32, 0x0800, 20, 4], [7, 5, 0, 0]), fc.nat(0xffff))
    .chain(([[hardwareType = 0, protocolType = 0, hardwareLength = 0, protocolLength = 0], operation]) =>
      fc.record({
        hardwareType: fc.constant(hardwareType),
        protocolType: fc.constant(protocolType),
        operation: fc.constant(operation),
        senderHardwareAddress: bytes(hardwareLength),
        senderProtocolAddress: bytes(protocolLength),
        targetHardwareAddress: bytes(hardwareLength),
        targetProtocolAddress: bytes(protocolLength),
      }),
    );
  fc.assert(
    fc.property(packets, (packet) => {
      expect(decodeArp(encodeArp(packet))).toEqual({ ok: true, value: packet });
    }),
  );
});

test("addresses of the wrong length are not encoded", () => {
  const packet = {
    operation: 1,
    senderHardwareAddress: new Uint8Array(6),
    senderProtocolAddress: new Uint8Array(16),
    targetHardwareAddress: new Uint8Array(6),
    targetProtocolAddress: new Uint8Array(16),
  };
  expect(() => encodeArp(packet)).toThrow(expect.objectContaining({ code: "unencodable" }));
});

test("every truncation and 20,000 mutations end in a result", () => {
  expectResults(decodeArp, REQUEST, { seed: 5, shortest: 28 });
});
