import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIpv4 } from "../addresses.ts";
import { cdpChecksum, cdpIpAddress } from "./cdp-tlvs.ts";
import { type CdpItem, type CdpPdu, decodeCdp, encodeCdp } from "./cdp.ts";
import { decodeFdp, encodeFdp } from "./fdp.ts";
import { snapPayload } from "../testing/snap-payload.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { SWITCH_CDP_FRAME, SWITCH_FDP_FRAME } from "../testing/neighbor-frames.ts";

const CDP = snapPayload(SWITCH_CDP_FRAME);
const FDP = snapPayload(SWITCH_FDP_FRAME);
const ADDRESS = { protocolType: 1, protocol: fromHex("cc"), address: fromHex("0a420001") };

function read(bytes: Uint8Array): CdpPdu {
  const result = decodeCdp(bytes);
  if (!result.ok) throw new Error(`${result.code} at ${result.offset}`);
  return result.value;
}

describe("CDP", () => {
  test("says who a switch is, by which port and for how long", () => {
    expect(read(CDP)).toEqual({
      version: 2,
      ttlSeconds: 120,
      checksum: 0xd344,
      items: [
        { kind: "device-id", text: "closet-switch" },
        { kind: "addresses", addresses: [ADDRESS] },
        { kind: "port-id", text: "br0" },
        { kind: "capabilities", bits: 0x18 },
        { kind: "version", text: "Lanthorn-lab-switch" },
        { kind: "platform", text: "Linux" },
      ],
    });
  });

  test("tells of VLANs and power", () => {
    const pdu = read(
      fromHex("02b40000 000a0006 0014 000b0005 01 000e0007 01 001e 00100006 3c8c 001a0010 00000001 00000000 00003a98 00160004"),
    );
    expect(pdu.items).toEqual([
      { kind: "native-vlan", vlanId: 20 },
      { kind: "duplex", isFull: true },
      { kind: "voice-vlan-reply", appliance: 1, vlanId: 30 },
      { kind: "power-consumption", milliwatts: 15_500 },
      { kind: "power-available", requestId: 0, managementId: 1, levels: [0, 15_000] },
      { kind: "unknown", type: 22, value: new Uint8Array(0) },
    ]);
  });

  test("keeps unknown TLVs and those of impossible lengths as bytes", () => {
    expect(read(fromHex("01b40000 00fe0006 abcd 00040005 01")).items).toEqual([
      { kind: "unknown", type: 254, value: fromHex("abcd") }, { kind: "unknown", type: 4, value: fromHex("01") },
    ]);
  });

  test("an address count that promises more than there is allocates nothing for it", () => {
    expect(read(joinBytes(fromHex("02b40000 00020011 ffffffff 01 01 cc 0004 0a420001"))).items).toEqual([
      { kind: "addresses", addresses: [ADDRESS] },
    ]);
  });

  test("a TLV shorter than its header is a bad value, one that runs past the end is truncated", () => {
    expect(decodeCdp(fromHex("02b40000 00010003 61"))).toEqual({ ok: false, code: "bad-value", layer: "cdp", offset: 6 });
    expect(decodeCdp(fromHex("02b40000 00010009 61"))).toEqual({ ok: false, code: "truncated", layer: "cdp", offset: 4 });
  });

  test("comes back byte by byte, with its checksum of an odd length", () => {
    expect(encodeCdp(read(CDP))).toEqual(CDP);
    expect(cdpChecksum(CDP)).toBe(0);
    expect(cdpChecksum(CDP.with(9, 0x20))).not.toBe(0);
  });

  test("a last odd byte above 127 counts as a negative number", () => {
    const pdu = encodeCdp({ version: 2, ttlSeconds: 180, items: [{ kind: "unknown", type: 99, value: fromHex("80") }] });
    expect(cdpChecksum(pdu)).toBe(0);
    // 0x02b4 + 0x0063 + 0x0005 and -128, which is 0xff80 with a borrow.
    expect(read(pdu).checksum).toBe(0xffff - (0x02b4 + 0x0063 + 0x0005 - 128));
  });

  test("every truncation and 20,000 mutations end in a result", () => {
    expect(expectResults(decodeCdp, CDP, { seed: 12, shortest: 4 })).toBeGreaterThan(1000);
  });
});

test("only IPv4 and IPv6 are taken for addresses", () => {
  expect(cdpIpAddress(ADDRESS)).toEqual(parseIpv4("10.66.0.1"));
  const ipv6 = { protocolType: 2, protocol: fromHex("aaaa030000000800").with(6, 0x86).with(7, 0xdd), address: new Uint8Array(16) };
  expect(cdpIpAddress(ipv6)).toHaveLength(16);
  expect(cdpIpAddress({ ...ADDRESS, address: fromHex("0a4200") })).toBeNull();
  expect(cdpIpAddress({ ...ADDRESS, protocol: fromHex("81") })).toBeNull();
});

describe("FDP", () => {
  test("has CDP's frame and a word for what the switch is", () => {
    expect(decodeFdp(FDP)).toMatchObject({
      ok: true,
      value: {
        version: 1,
        ttlSeconds: 120,
        items: [
          { kind: "device-id", text: "closet-switch" }, { kind: "addresses", addresses: [ADDRESS] }, { kind: "port-id", text: "br0" },
          { kind: "capability", text: "Switch" }, { kind: "version", text: "Lanthorn-lab-switch" }, { kind: "platform", text: "Linux" },
        ],
      },
    });
  });

  test("comes back", () => {
    const pdu = decodeFdp(joinBytes(FDP, fromHex("01010005 07")));
    if (!pdu.ok) throw new Error(pdu.code);
    const again = decodeFdp(encodeFdp(pdu.value));
    expect(again).toMatchObject({ ok: true, value: { items: pdu.value.items } });
    expect(pdu.value.items.at(-1)).toEqual({ kind: "unknown", type: 0x101, value: fromHex("07") });
  });

  test("every truncation and 20,000 mutations end in a result", () => {
    expect(expectResults(decodeFdp, FDP, { seed: 13, shortest: 4 })).toBeGreaterThan(1000);
  });
});

test("whatever was encoded comes back", () => {
  const text = fc.string({ maxLength: 60 });
  const u16 = fc.nat(0xffff);
  const u32 = fc.nat(0xffff_ffff);
  const address = fc.record({
    protocolType: fc.nat(255), protocol: fc.uint8Array({ maxLength: 8 }), address: fc.uint8Array({ maxLength: 16 }),
  });
  const items: fc.Arbitrary<CdpItem> = fc.oneof(
    fc.record({ kind: fc.constantFrom("device-id", "port-id", "version", "platform", "vtp-domain", "system-name"), text }),
    fc.record({ kind: fc.constantFrom("addresses", "management-addresses"), addresses: fc.array(address, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant("capabilities"), bits: u32 }),
    fc.record({ kind: fc.constant("native-vlan"), vlanId: u16 }),
    fc.record({ kind: fc.constant("duplex"), isFull: fc.boolean() }),
    fc.record({ kind: fc.constantFrom("voice-vlan-reply", "voice-vlan-query"), appliance: fc.nat(255), vlanId: u16 }),
    fc.record({ kind: fc.constant("power-consumption"), milliwatts: u16 }),
    fc.record({ kind: fc.constant("mtu"), octets: u32 }),
    fc.record({
      kind: fc.constantFrom("power-requested", "power-available"), requestId: u16, managementId: u16,
      levels: fc.array(u32, { maxLength: 4 }),
    }),
    fc.record({ kind: fc.constant("unknown"), type: fc.integer({ min: 100, max: 0xffff }), value: fc.uint8Array({ maxLength: 300 }) }),
  );
  const pdus = fc.record({ version: fc.constantFrom(1, 2), ttlSeconds: fc.nat(255), items: fc.array(items, { maxLength: 8 }) });
  fc.assert(fc.property(pdus, (pdu) => {
    const bytes = encodeCdp(pdu);
    expect(decodeCdp(bytes)).toMatchObject({ ok: true, value: pdu });
    expect(cdpChecksum(bytes)).toBe(0);
  }));
});
