import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseDecoysSettings } from "../settings.ts";
import { gatewayOf, ownDecoys } from "./own-decoys.ts";

let [here, elsewhere] = ["", ""];
beforeEach(() => {
  here = mkdtempSync(join(tmpdir(), "lanthorn-decoy-"));
  elsewhere = mkdtempSync(join(tmpdir(), "lanthorn-decoy-"));
});
afterEach(() => [here, elsewhere].forEach((folder) => rmSync(folder, { recursive: true })));

const parse = (...decoys: readonly object[]) => parseDecoysSettings({ decoys: decoys.map((decoy, index) => ({ name: `d${index}`, ...decoy })) }).decoys;
const own = { address: "192.0.2.50/24", interface: "eth0" };

test("a decoy's own MAC address is its maker's, the same at each start, and another at each site and for each name", () => {
  const decoys = parse({ ...own, persona: "nas" }, { ...own, persona: "nas", address: "192.0.2.51/24" }, { address: "192.0.2.5" });
  const first = ownDecoys(decoys, here);
  expect(first).toMatchObject([{ name: "d0", ip: "192.0.2.50", prefixLength: 24, parent: "eth0", mac: expect.stringMatching(/^00:11:32:/) as string }, { name: "d1" }]);
  expect(ownDecoys(decoys, here)).toEqual(first);
  const all = [...first, ...ownDecoys(decoys, elsewhere)].map(({ mac }) => mac);
  expect(new Set(all).size).toBe(4);
  expect(ownDecoys(parse({ ...own, persona: "linux" }), here)[0]?.mac).toMatch(/^00:50:56:[89ab]/);
  expect(ownDecoys(parse({ ...own, mac: "AC:DE:48" }), here)[0]?.mac).toMatch(/^ac:de:48:/);
  expect(ownDecoys(parse({ ...own, mac: "00:11:32:4a:5b:6c" }), here)[0]?.mac).toBe("00:11:32:4a:5b:6c");
});

test.each([
  ["without an interface", { address: "192.0.2.50/24" }], ["with an interface and no network", { address: "192.0.2.50", interface: "eth0" }], ["with a MAC address and no network", { address: "192.0.2.50", mac: "00:11:32" }],
  ["of a network", { ...own, address: "192.0.2.0/24" }], ["of all hosts", { ...own, address: "192.0.2.255/24" }], ["of multicast", { ...own, address: "224.0.0.5/24" }],
  ["of loopback", { ...own, address: "127.0.0.5/8" }], ["alone in its network", { ...own, address: "192.0.2.50/32" }], ["of IPv6 multicast", { ...own, address: "ff02::1/64" }],
  ["with a MAC address of a group", { ...own, mac: "01:11:32:4a:5b:6c" }], ["with half a MAC address", { ...own, mac: "00:11:32:4a" }], ["on no interface", { ...own, interface: "../eth0" }],
])("an address of its own %s is refused", (_, decoy) => {
  expect(() => parse(decoy)).toThrow();
});

test("an address of its own is one decoy's", () => {
  expect(() => parse(own, own)).toThrow();
  expect(() => parse(own, { address: "192.0.2.50" })).toThrow();
  expect(parse(own, { ...own, address: "2001:DB8::50/64" }).map(({ address }) => address)).toEqual(["192.0.2.50", "2001:db8::50"]);
});

test("its gateway is one of its network, or a router of the link", () => {
  expect(gatewayOf({ ip: "192.0.2.50", prefixLength: 24 }, ["198.51.100.1", "192.0.2.1"])).toBe("192.0.2.1");
  expect(gatewayOf({ ip: "192.0.2.50", prefixLength: 24 }, ["198.51.100.1", "fe80::1"])).toBeNull();
  expect(gatewayOf({ ip: "2001:db8::50", prefixLength: 64 }, ["192.0.2.1", "fe80::1"])).toBe("fe80::1");
});
