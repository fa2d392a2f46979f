import { DNS_TYPE, encodeDns, encodeNetbiosAnswer, formatIp } from "@lanthorn/packets";
import type { NetworkInterfaceInfo } from "node:os";
import { expect, test } from "vitest";
import { everyTruncation, seededMutations, seededRandom } from "../../../../../packages/packets/src/testing/hostile.ts";
import { parseDecoysSettings } from "../settings.ts";
import { createBaitNames } from "./bait-names.ts";
import { baitingDecoys } from "./name-bait.ts";
import { NAME_BAIT_PROTOCOLS, NAME_PROTOCOLS, type NameBaitProtocol } from "./name-protocols.ts";

const LABEL = "fielserver42";
const QUESTION = { id: 0x1234, label: LABEL };
const ADDRESS = Uint8Array.of(10, 0, 0, 9);

/** What a poisoner answers. */
function poison(protocol: NameBaitProtocol, { id = QUESTION.id, label = LABEL, responseCode = 0, isResponse = true } = {}): Uint8Array {
  if (protocol === "nbns") return encodeNetbiosAnswer({ id, name: { name: label.toUpperCase(), suffix: 0x20 }, addresses: responseCode === 0 ? [{ isGroup: false, address: ADDRESS }] : [] });
  const name = protocol === "mdns" ? `${label}.local` : label;
  return encodeDns({
    id, isResponse, responseCode, questions: [{ name, type: DNS_TYPE.a }], answers: responseCode === 0 ? [{ name, type: DNS_TYPE.a, class: 1, isCacheFlush: false, ttlSeconds: 30, data: { kind: "address", address: ADDRESS } }] : [],
  });
}

test.each(NAME_BAIT_PROTOCOLS)("%s: an answer that gives the name an address is one; other names, other questions, negative ones and questions are none", (protocol) => {
  const { readAnswer, encode } = NAME_PROTOCOLS[protocol];
  expect(readAnswer(poison(protocol), QUESTION)).toBe(formatIp(ADDRESS));
  expect(readAnswer(poison(protocol, { label: LABEL.toUpperCase() }), QUESTION)).toBe("10.0.0.9");
  for (const other of [{ id: 0x4321 }, { label: "printer" }, { responseCode: 3 }]) expect(readAnswer(poison(protocol, other), QUESTION)).toBeNull();
  for (const asked of encode(QUESTION)) expect(readAnswer(asked, QUESTION)).toBeNull();
  if (protocol !== "nbns") expect(readAnswer(poison(protocol, { isResponse: false }), QUESTION)).toBeNull();
});

test.each(NAME_BAIT_PROTOCOLS)("%s: nothing that is cut or damaged is more than an answer or none", (protocol) => {
  const { readAnswer } = NAME_PROTOCOLS[protocol];
  const whole = poison(protocol);
  for (const cut of everyTruncation(whole)) expect(readAnswer(cut, QUESTION)).toBeNull();
  for (const damaged of seededMutations(whole, 3000, 7)) expect(readAnswer(damaged, QUESTION) ?? "10.0.0.9").toMatch(/^[\d.:a-f]+$/);
});

test("names look mistyped, fit NetBIOS, and none of the last 512 comes again, nor one that somebody has", () => {
  const random = seededRandom(3);
  const next = createBaitNames(() => random(10_000) / 10_000, ["wpda17"]);
  const made = Array.from({ length: 4000 }, () => next());
  for (const [index, name] of made.entries()) {
    expect(name).toMatch(/^[a-z]{3,13}\d\d$/);
    expect(name.length).toBeLessThanOrEqual(15);
    expect(made.slice(Math.max(0, index - 400), index)).not.toContain(name);
    expect(name).not.toMatch(/^(?:wpad|fileserver|intranet|exchange)\d/);
  }
  expect(made).not.toContain("wpda17");
});

test("it is off unless it is switched on, and never asks more often than once in half a minute", () => {
  const decoys = [{ name: "files2", address: "192.0.2.9" }];
  expect(parseDecoysSettings({ decoys }).name_bait).toEqual({ enabled: false, interval_seconds: 600, protocols: ["llmnr", "nbns", "mdns"] });
  expect(() => parseDecoysSettings({ decoys, name_bait: { enabled: true, interval_seconds: 59 } })).toThrow();
});

test("one decoy of each network asks; a network without a broadcast address has none", () => {
  const own = (cidr: string) => ({ family: "IPv4" as const, address: cidr.split("/")[0] ?? "", cidr, netmask: "", mac: "", internal: false });
  const interfaces = { eth0: [own("192.0.2.9/24"), own("192.0.2.10/24")], eth1: [own("198.51.100.7/22"), own("203.0.113.1/32")] };
  const names = (addresses: readonly string[]) => baitingDecoys(addresses.map((address) => ({ name: address, address })), interfaces);
  expect(names(["192.0.2.10", "192.0.2.9", "198.51.100.7", "203.0.113.1", "203.0.113.2", "2001:db8::1"])).toEqual([
    { decoy: "192.0.2.10", address: "192.0.2.10", broadcast: "192.0.2.255", zone: null }, { decoy: "198.51.100.7", address: "198.51.100.7", broadcast: "198.51.103.255", zone: null },
    { decoy: "203.0.113.1", address: "203.0.113.1", broadcast: null, zone: null },
  ]);
});

test("one decoy of each interface that has IPv6 asks there, too: from the link-local address, or from its own where there is none", () => {
  const own = (family: "IPv4" | "IPv6", cidr: string) => ({ family, address: cidr.split("/")[0] ?? "", cidr, netmask: "", mac: "", internal: false, ...(family === "IPv6" && { scopeid: 2 }) }) as NetworkInterfaceInfo;
  const interfaces = { eth0: [own("IPv4", "192.0.2.9/24"), own("IPv6", "2001:db8::9/64"), own("IPv6", "fe80::9/64")], eth1: [own("IPv6", "2001:db8:1::7/64")], eth2: [own("IPv4", "198.51.100.6/30")] };
  const decoys = [{ name: "files2", address: "192.0.2.9" }, { name: "files6", address: "2001:DB8::9" }, { name: "db1", address: "2001:db8:1:0::7" }, { name: "print", address: "198.51.100.6" }];
  expect(baitingDecoys(decoys, interfaces)).toEqual([
    { decoy: "files2", address: "192.0.2.9", broadcast: "192.0.2.255", zone: null }, { decoy: "files2", address: "fe80::9", broadcast: null, zone: "eth0" },
    { decoy: "db1", address: "2001:db8:1::7", broadcast: null, zone: "eth1" }, { decoy: "print", address: "198.51.100.6", broadcast: "198.51.100.7", zone: null },
  ]);
  expect(baitingDecoys([{ name: "files6", address: "2001:db8::9" }], interfaces)).toEqual([{ decoy: "files6", address: "fe80::9", broadcast: null, zone: "eth0" }]);
});
