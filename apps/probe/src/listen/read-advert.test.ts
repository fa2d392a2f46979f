import { encodeUtf8, LLDP_DESTINATIONS } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { cdpFrame, edpFrame, EDP_PLACE, fdpFrame, ip, lldpFrame, snapFrame, sonmpFrame, SWITCH, SWITCH_PORT } from "./testing/adverts.ts";
import { toBusFrame } from "../bus/frame-bus.ts";
import { readAdvert } from "./read-advert.ts";

const read = (bytes: Uint8Array) => readAdvert(toBusFrame({ bytes, wireLength: bytes.length, atMicroseconds: 0 }));

describe("LLDP", () => {
  test("names chassis, port, system, addresses, VLANs and power", () => {
    const frame = lldpFrame({
      items: [
        { kind: "port-description", text: "to probe" },
        { kind: "system-description", text: "EOS\r\n4.31\0" },
        { kind: "system-capabilities", supported: 0x14, enabled: 0x14 },
        { kind: "management-address", family: 1, address: ip("10.77.0.2"), numbering: 2, interfaceNumber: 1, objectId: new Uint8Array(0) },
        { kind: "management-address", family: 2, address: ip("fd00::2"), numbering: 2, interfaceNumber: 1, objectId: new Uint8Array(0) },
        {
          kind: "management-address", family: 6, address: new Uint8Array(6), numbering: 2, interfaceNumber: 1, objectId: new Uint8Array(0),
        },
        { kind: "port-vlan", vlanId: 20 },
        { kind: "vlan-name", vlanId: 30, name: "voice" },
        { kind: "vlan-name", vlanId: 20, name: "office" },
        {
          kind: "power", support: 15, pair: 1, powerClass: 5, dualSignature: null,
          allocation: { typeSourcePriority: 0x12, requested: 255, allocated: 200 },
        },
        { kind: "med-network-policy", application: 1, isUnknown: false, isTagged: true, vlanId: 30, priority: 5, dscp: 46 },
        { kind: "med-inventory", field: "model", text: "DCS-7050" },
      ],
    });
    expect(read(frame)).toEqual({
      protocol: "lldp", sourceMac: SWITCH_PORT, ttlSeconds: 120, isVlansOnly: false,
      facts: {
        chassis_id: SWITCH, chassis_id_type: "mac", port_id: "Ethernet12", port_id_type: "interface-name", port_description: "to probe",
        system_name: "sw-store12", system_description: "EOS 4.31", capabilities: ["bridge", "router"],
        management_addresses: ["10.77.0.2", "fd00::2"], vlan_ids: [20, 30],
        vlan_names: [{ id: 30, name: "voice" }, { id: 20, name: "office" }], native_vlan: 20, voice_vlan: 30, platform: "DCS-7050",
        power: { role: "source", class: 4, requested_milliwatts: 25_500, allocated_milliwatts: 20_000 },
      },
    });
  });

  test.each(LLDP_DESTINATIONS)("is read when it is sent to %s, in a VLAN tag too", (to) => {
    expect(read(lldpFrame({ to }))?.facts.port_id).toBe("Ethernet12");
    expect(read(lldpFrame({ to, vlan: 20 }))?.facts.port_id).toBe("Ethernet12");
  });

  test.each([
    ["an address", { subtype: 5, id: Uint8Array.of(1, 10, 0, 0, 1) }, "network-address", "10.0.0.1"],
    ["a name", { subtype: 7, id: encodeUtf8("closet 3") }, "local", "closet 3"],
    ["a MAC of five bytes", { subtype: 4, id: Uint8Array.of(1, 2, 3, 4, 5) }, "local", "0102030405"],
    ["bytes that are no text", { subtype: 7, id: Uint8Array.of(0xc0, 0xde) }, "local", "c0de"],
    ["nothing but zeros", { subtype: 7, id: Uint8Array.of(0, 0) }, "local", "0000"],
  ])("names a chassis by %s", (_, chassis, type, text) => {
    expect(read(lldpFrame({ chassis }))?.facts).toMatchObject({ chassis_id: text, chassis_id_type: type });
  });

  test("hostile texts come without control characters and no longer than the contract takes", () => {
    const frame = lldpFrame({ name: `\u001b[2J<b>${"x".repeat(400)}` });
    const name = read(frame)?.facts.system_name ?? "";
    expect(name.startsWith("[2J<b>xxx")).toBe(true);
    expect(name).toHaveLength(255);
    expect(read(lldpFrame({ name: `${"x".repeat(254)}\u{1f600}` }))?.facts.system_name).toBe("x".repeat(254));
  });
});

test("CDP in LLDP's words", () => {
  const address = { protocolType: 1, protocol: Uint8Array.of(0xcc), address: ip("192.168.0.1") };
  const frame = cdpFrame([
    { kind: "device-id", text: "S2.example.net" }, { kind: "addresses", addresses: [address, { ...address, address: ip("0.0.0.0") }] },
    { kind: "port-id", text: "GigabitEthernet0/13" }, { kind: "capabilities", bits: 0x29 },
    { kind: "version", text: "Cisco IOS\nVersion 12.2" }, { kind: "platform", text: "cisco WS-C3560" }, { kind: "native-vlan", vlanId: 10 },
    { kind: "voice-vlan-reply", appliance: 1, vlanId: 30 },
    { kind: "power-available", requestId: 0, managementId: 1, levels: [0, 0xffff_ffff] },
  ]);
  expect(read(frame)).toMatchObject({
    protocol: "cdp", ttlSeconds: 180,
    facts: {
      chassis_id: "S2.example.net", chassis_id_type: "local", port_id: "GigabitEthernet0/13", system_name: "S2.example.net",
      system_description: "Cisco IOS Version 12.2", platform: "cisco WS-C3560", capabilities: ["router", "bridge"],
      management_addresses: ["192.168.0.1"], vlan_ids: [10, 30], native_vlan: 10, voice_vlan: 30, power: { role: "source" },
    },
  });
  expect(read(cdpFrame([{ kind: "device-id", text: "S2" }]))).toBeNull();
});

test("FDP by its word", () => {
  expect(read(fdpFrame("Switch"))).toMatchObject({
    protocol: "fdp", facts: {
      chassis_id: "icx-1", port_id: "ethernet1/1/3", capabilities: ["bridge"], platform: "ICX7250", management_addresses: ["10.0.0.4"],
    },
  });
  expect(read(fdpFrame("Router"))?.facts.capabilities).toEqual(["router"]);
});

test("EDP's place, counted from one, and its VLANs in a frame of their own", () => {
  expect(read(edpFrame(EDP_PLACE))).toMatchObject({
    protocol: "edp", isVlansOnly: false,
    facts: { chassis_id: SWITCH, port_id: "1/12", system_name: "x440", system_description: "EDP, software 15.3.4.2" },
  });
  const vlans = edpFrame([{ kind: "vlan", flags: 0x80, vlanId: 50, address: ip("10.50.0.63"), name: "Admin" }]);
  expect(read(vlans)).toMatchObject({
    isVlansOnly: true, facts: { vlan_ids: [50], vlan_names: [{ id: 50, name: "Admin" }], management_addresses: ["10.50.0.63"] },
  });
  expect(read(edpFrame([]))).toBeNull();
});

test.each([[[0, 0, 4], "4"], [[0, 2, 8], "2/8"], [[1, 2, 8], "1/2/8"]])("SONMP's segment %j is port %s", (segment, port) => {
  expect(read(sonmpFrame(segment))).toMatchObject({
    protocol: "sonmp",
    facts: { chassis_id: "10.0.0.5", chassis_id_type: "network-address", port_id: port, management_addresses: ["10.0.0.5"] },
  });
});

test("other frames to the same addresses are nobody's advertisement", () => {
  const spanningTree = lldpFrame({ to: "01:80:c2:00:00:00" }).slice();
  spanningTree.set([0, 39, 0x42, 0x42, 3], 12);
  expect(read(spanningTree)).toBeNull();
  expect(read(snapFrame("01:00:0c:cc:cc:cc", { organization: 0x00000c, protocol: 0x2003 }, new Uint8Array(30)))).toBeNull();
  expect(read(lldpFrame({ to: "ff:ff:ff:ff:ff:ff" }))).toBeNull();
  expect(read(lldpFrame({ from: "01:00:5e:00:00:01" }))).toBeNull();
  expect(read(lldpFrame().subarray(0, 20))).toBeNull();
});

test("what a sender repeats is not read anew, and what differs is", () => {
  const frame = lldpFrame({ name: "sw-a" });
  const first = read(frame);
  expect(read(frame.slice())).toBe(first);
  const names = ["sw-a", "sw-b", "sw-a", "sw-c"];
  expect(names.map((name) => read(lldpFrame({ name }))?.facts.system_name)).toEqual(names);
  expect(read(lldpFrame({ name: "sw-a" }))).toEqual(first);
});
