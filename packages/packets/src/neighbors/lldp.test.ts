import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIpv4, parseMac } from "../addresses.ts";
import { decodeEthernet } from "../link/ethernet.ts";
import { decodeLldp, encodeLldp, type LldpItem, type LldpPdu } from "./lldp.ts";
import { LLDP_INVENTORY_FIELDS } from "./lldp-med.ts";
import { joinLldpTlvs, splitLldpTlvs } from "./lldp-tlvs.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { SWITCH_LLDP_FRAME } from "../testing/neighbor-frames.ts";

function pduOf(frame: Uint8Array): Uint8Array {
  const ethernet = decodeEthernet(frame);
  if (!ethernet.ok) throw new Error(ethernet.code);
  return ethernet.value.payload;
}

const PDU = pduOf(SWITCH_LLDP_FRAME);

function read(pdu: Uint8Array): LldpPdu {
  const result = decodeLldp(pdu);
  if (!result.ok) throw new Error(`${result.code} at ${result.offset}`);
  return result.value;
}

const find = <K extends LldpItem["kind"]>(pdu: LldpPdu, kind: K) =>
  pdu.items.filter((item): item is Extract<LldpItem, { readonly kind: K }> => item.kind === kind);

/** Chassis, port and time to live of a minimal PDU. */
const HEAD = fromHex("0207 04 02000000000a 0403 05 6731 0602 0078");

describe("what lldpd on a bridge says", () => {
  const pdu = read(PDU);

  test("names chassis, port and time to live", () => {
    expect(pdu.chassisId).toEqual({ subtype: 4, id: parseMac("52:54:00:aa:00:01") });
    expect(pdu.portId).toEqual({ subtype: 3, id: parseMac("52:54:00:aa:00:01") });
    expect(pdu.ttlSeconds).toBe(120);
  });

  test("names the system, its addresses and what it can do", () => {
    expect(find(pdu, "system-name")).toEqual([{ kind: "system-name", text: "closet-switch" }]);
    expect(find(pdu, "port-description")).toEqual([{ kind: "port-description", text: "uplink" }]);
    expect(find(pdu, "system-capabilities")).toEqual([{ kind: "system-capabilities", supported: 0x9c, enabled: 0x04 }]);
    expect(find(pdu, "management-address")).toMatchObject([
      { family: 1, address: parseIpv4("10.66.0.1"), numbering: 2, interfaceNumber: 4 }, { family: 2, numbering: 2, interfaceNumber: 2 },
    ]);
  });

  test("tells of power, of media endpoints and of what we do not know", () => {
    expect(find(pdu, "power")).toEqual([{
      kind: "power", support: 15, pair: 1, powerClass: 5, allocation: { typeSourcePriority: 0x12, requested: 255, allocated: 200 },
      dualSignature: null,
    }]);
    expect(find(pdu, "med-network-policy")).toMatchObject([{ application: 1, isTagged: false, vlanId: 30, priority: 5, dscp: 46 }]);
    expect(find(pdu, "organizational")).toEqual([
      { kind: "organizational", organization: 0x334455, subtype: 0x2c, information: fromHex("5566") },
    ]);
  });

  test("comes back byte by byte", () => {
    expect(encodeLldp(pdu)).toEqual(PDU);
  });
});

test("VLANs have their numbers and names", () => {
  const pdu = read(joinBytes(HEAD, fromHex("fe06 0080c2 01 0014 fe0d 0080c2 03 0014 06 6f6666696365 fe0c 0080c2 03 001e 05 766f696365")));
  expect(pdu.items).toEqual([
    { kind: "port-vlan", vlanId: 20 }, { kind: "vlan-name", vlanId: 20, name: "office" }, { kind: "vlan-name", vlanId: 30, name: "voice" },
  ]);
});

test("padding and whatever else follows the end is left alone", () => {
  expect(read(joinBytes(HEAD, fromHex("0000 0a03 787878")))).toMatchObject({ items: [] });
  expect(read(HEAD)).toMatchObject({ ttlSeconds: 120, items: [] });
});

test("unknown TLVs, organizations and subtypes are kept as bytes", () => {
  const pdu = read(joinBytes(HEAD, fromHex("1603 010203 fe05 0026e1 07 09 fe06 0080c2 63 abcd")));
  expect(pdu.items).toEqual([
    { kind: "unknown", type: 11, value: fromHex("010203") },
    { kind: "organizational", organization: 0x0026e1, subtype: 7, information: fromHex("09") },
    { kind: "organizational", organization: 0x0080c2, subtype: 0x63, information: fromHex("abcd") },
  ]);
});

test("a TLV of a length that it cannot have is kept as bytes and costs no other", () => {
  const pdu = read(joinBytes(HEAD, fromHex("0e03 001400 1005 09 01 c0a801 fe05 0080c2 01 14 0a02 7377")));
  expect(pdu.items.map(({ kind }) => kind)).toEqual(["unknown", "unknown", "organizational", "system-name"]);
});

test.each([
  ["no chassis at first", "0403 05 6731 0207 04 02000000000a 0602 0078 0000"],
  ["no time to live", "0207 04 02000000000a 0403 05 6731 0a02 7377 0000"],
  ["a second chassis", "0207 04 02000000000a 0403 05 6731 0602 0078 0207 04 02000000000b 0000"],
  ["a chassis without a name", "0201 04 0403 05 6731 0602 0078 0000"],
  ["nothing but an end", "0000"],
])("a PDU with %s is discarded", (_, hex) => {
  expect(decodeLldp(fromHex(hex))).toEqual({ ok: false, code: "bad-value", layer: "lldp", offset: 0 });
});

test("a TLV that runs past the end is truncated where it begins", () => {
  expect(decodeLldp(joinBytes(HEAD, fromHex("0a05 737769")))).toEqual({ ok: false, code: "truncated", layer: "lldp", offset: HEAD.length });
});

test("splitting copies nothing", () => {
  const tlvs = splitLldpTlvs(PDU);
  expect(tlvs.ok && tlvs.value.every(({ value }) => value.buffer === PDU.buffer)).toBe(true);
});

const bytes = (maxLength: number, minLength = 0) => fc.uint8Array({ minLength, maxLength });
const text = fc.string({ maxLength: 40 });
const u8 = fc.nat(0xff);
const u16 = fc.nat(0xffff);
const items: fc.Arbitrary<LldpItem> = fc.oneof(
  fc.record({ kind: fc.constantFrom("port-description", "system-name", "system-description"), text }),
  fc.record({ kind: fc.constant("system-capabilities"), supported: u16, enabled: u16 }),
  fc.record({
    kind: fc.constant("management-address"), family: u8, address: bytes(31), numbering: u8, interfaceNumber: fc.nat(0xffff_ffff),
    objectId: bytes(60),
  }),
  fc.record({ kind: fc.constant("port-vlan"), vlanId: u16 }),
  fc.record({ kind: fc.constant("protocol-vlan"), flags: u8, vlanId: u16 }),
  fc.record({ kind: fc.constant("vlan-name"), vlanId: u16, name: fc.string({ maxLength: 20 }) }),
  fc.record({ kind: fc.constant("protocol-identity"), identity: bytes(60) }),
  fc.record({
    kind: fc.constant("link-aggregation"), organization: fc.constantFrom("802.1", "802.3"), status: u8, portId: fc.nat(0xffff_ffff),
  }),
  fc.record({ kind: fc.constant("mac-phy"), autonegotiation: u8, advertised: u16, mauType: u16 }),
  fc.record({
    kind: fc.constant("power"), support: u8, pair: u8, powerClass: u8,
    allocation: fc.record({ typeSourcePriority: u8, requested: u16, allocated: u16 }),
    dualSignature: fc.option(fc.record({
      requestedA: u16, requestedB: u16, allocatedA: u16, allocatedB: u16, status: u16, systemSetup: u8, maximumAvailable: u16,
      autoclass: u8, powerDown: fc.nat(0xff_ffff),
    })),
  }),
  fc.record({ kind: fc.constant("maximum-frame-size"), octets: u16 }),
  fc.record({ kind: fc.constant("med-capabilities"), capabilities: u16, deviceType: u8 }),
  fc.record({
    kind: fc.constant("med-network-policy"), application: u8, isUnknown: fc.boolean(), isTagged: fc.boolean(), vlanId: fc.nat(0xfff),
    priority: fc.nat(7), dscp: fc.nat(63),
  }),
  fc.record({ kind: fc.constant("med-location"), format: u8, location: bytes(60) }),
  fc.record({ kind: fc.constant("med-power"), typeSourcePriority: u8, power: u16 }),
  fc.record({ kind: fc.constant("med-inventory"), field: fc.constantFrom(...LLDP_INVENTORY_FIELDS), text }),
  fc.record({ kind: fc.constant("organizational"), organization: fc.nat(0x70), subtype: u8, information: bytes(60) }),
  fc.record({ kind: fc.constant("unknown"), type: fc.integer({ min: 9, max: 126 }), value: bytes(511) }),
);

test("whatever was encoded comes back", () => {
  const id = fc.record({ subtype: u8, id: bytes(255, 1) });
  const pdus = fc.record({ chassisId: id, portId: id, ttlSeconds: u16, items: fc.array(items, { maxLength: 8 }) });
  fc.assert(fc.property(pdus, (pdu) => {
    expect(decodeLldp(encodeLldp(pdu))).toEqual({ ok: true, value: pdu });
  }));
});

test.each([[{ type: 0, value: new Uint8Array(0) }], [{ type: 128, value: new Uint8Array(0) }], [{ type: 5, value: new Uint8Array(512) }]])(
  "a TLV beyond its header has no encoding", (tlv) => {
    expect(() => joinLldpTlvs([tlv])).toThrow(expect.objectContaining({ code: "unencodable" }));
  },
);

test("every truncation and 20,000 mutations end in a result", () => {
  expect(expectResults(decodeLldp, PDU, { seed: 88, shortest: 0 })).toBeGreaterThan(1000);
});
