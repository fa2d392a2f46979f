import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import individualAddressBlocks from "./individual-address-blocks.json" with { type: "json" };
import { createVendorLookup } from "./vendor.ts";

const registry = JSON.parse(readFileSync(createRequire(import.meta.url).resolve("oui-data"), "utf8")) as Readonly<Record<string, string>>;
const lookup = createVendorLookup();

const vendorOf = (mac: string) => lookup.vendorOf(mac);
const unescaped = (name: string) => name.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
const isMaker = (name: string) => !["IEEE Registration Authority", "Private"].includes(name);
const blocks: Readonly<Record<string, string>> = individualAddressBlocks;
const nameOf = (prefix: string) => {
  const name = (blocks[prefix] ?? registry[prefix])?.split("\n")[0]?.trim();
  if (name === undefined) return undefined;
  return isMaker(name) ? unescaped(name) : "";
};
const macOf = (digits: string) => digits.toLowerCase().match(/../g)?.join(":") ?? "";

/** The registry's answer the plain way: the longest prefix that is a key. */
const expectedFor = (digits: string) => nameOf(digits.slice(0, 9)) ?? nameOf(digits.slice(0, 7)) ?? nameOf(digits.slice(0, 6)) ?? "";

describe("the vendor of a MAC address", () => {
  test("is the registry's for the first and last address of every prefix, by its longest one", () => {
    const prefixes = [...Object.keys(registry), ...Object.keys(blocks)];
    expect(prefixes.length).toBeGreaterThan(50_000 + 4500);
    const wrong = prefixes.flatMap((prefix) => ["0", "F"].map((fill) => prefix.padEnd(12, fill)))
      .filter((digits) => vendorOf(macOf(digits)) !== expectedFor(digits));
    expect(wrong).toEqual([]);
  });

  test("is the prefix's own unless a longer one covers the address, for each of the three lengths", () => {
    for (const length of [6, 7, 9]) {
      const prefixes = Object.keys(registry).filter((prefix) => prefix.length === length);
      const own = prefixes.filter((prefix) => vendorOf(macOf(prefix.padEnd(12, "5"))) === nameOf(prefix));
      expect(own.length).toBeGreaterThan(5000);
    }
  });

  test("is that of each individual address block, of 36 bits", () => {
    expect(Object.keys(blocks)).toHaveLength(4575);
    expect(Object.keys(blocks).filter((prefix) => !/^(0050C2|40D855)[0-9A-F]{3}$/.test(prefix))).toEqual([]);
    expect(vendorOf("00:50:c2:7d:51:23")).toBe("DEUTA-WERKE GmbH");
    expect(vendorOf("40:d8:55:11:c0:01")).toBe("DEUTA-WERKE GmbH");
    expect(vendorOf("40:d8:55:11:c0:01")).not.toBe(vendorOf("40:d8:55:11:d0:01"));
  });

  test("is spelled without the entities of web pages", () => {
    const spelled = Object.keys(registry).filter((prefix) => /&[\w#]+;/.test(registry[prefix]?.split("\n")[0] ?? ""));
    expect(spelled.length).toBeGreaterThan(0);
    for (const prefix of spelled) expect(vendorOf(macOf(prefix.padEnd(12, "5")))).not.toMatch(/&[\w#]+;/);
    const reichle = Object.keys(registry).find((prefix) => registry[prefix]?.startsWith("R&amp;M AG")) ?? "";
    expect(vendorOf(macOf(reichle.padEnd(12, "5")))).toBe("R&M AG");
  });

  test("is nobody where the registry names only itself, or says that the maker is private", () => {
    const prefixes = Object.keys(registry).filter((prefix) => !isMaker(registry[prefix]?.split("\n")[0]?.trim() ?? ""));
    expect(prefixes.length).toBeGreaterThan(500);
    const named = prefixes.map((prefix) => vendorOf(macOf(prefix.padEnd(12, "5"))))
      .filter((vendor) => vendor === "Private" || vendor.startsWith("IEEE Registration"));
    expect(named).toEqual([]);
    expect(vendorOf("40:d8:55:ff:ff:ff")).toBe("");
  });

  test("changes at the edges of a prefix of 36 bits", () => {
    const nextOf = (key: string) => (Number.parseInt(key, 16) + 1).toString(16).padStart(9, "0").toUpperCase();
    const prefix = Object.keys(registry).find((key) => key.length === 9 && nameOf(nextOf(key)) !== nameOf(key)) ?? "";
    const after = nextOf(prefix);
    expect(vendorOf(macOf(`${prefix}FFF`))).toBe(nameOf(prefix));
    expect(vendorOf(macOf(`${after}000`))).toBe(expectedFor(`${after}000`));
  });

  test("is one line without blanks at its ends, and whole where it is not ASCII", () => {
    const foreign = Object.keys(registry).filter((prefix) => /[^\x20-\x7e]/.test(nameOf(prefix) ?? ""));
    expect(foreign.length).toBeGreaterThan(0);
    for (const prefix of foreign) expect(vendorOf(macOf(prefix.padEnd(12, "5")))).toBe(expectedFor(prefix.padEnd(12, "5")));
    expect(vendorOf("00:00:01:12:34:56")).toBe("XEROX CORPORATION");
  });

  test("is empty for addresses that devices make up, QEMU's among them", () => {
    expect(vendorOf("da:a1:19:00:00:01")).toBe("");
    expect(vendorOf("52:54:00:12:34:56")).toBe("");
  });

  test("is the registry's for the few local addresses that are in it", () => {
    expect(vendorOf("02:60:8c:12:34:56")).toBe("3COM");
  });

  test("is empty for broadcast and for all zeroes only where the registry says nothing", () => {
    expect(vendorOf("ff:ff:ff:ff:ff:ff")).toBe("");
    expect(vendorOf("00:00:00:00:00:00")).toBe(nameOf("000000"));
  });

  test("is found in either case, with hyphens and without anything between", () => {
    const spellings = ["00:00:01:ab:cd:ef", "00:00:01:AB:CD:EF", "00-00-01-ab-cd-ef", "000001ABCDEF"];
    expect(spellings.map(vendorOf)).toEqual(spellings.map(() => "XEROX CORPORATION"));
  });

  test.each([
    "", ":", "00:00:01", "00:00:01:ab:cd", "00:00:01:ab:cd:ef:00", "0:0:1:ab:cd:ef", "00:00:01:ab:cd:eg", "00:00:01:ab:cd:ef\n",
    " 00:00:01:ab:cd:ef", "\u{1f642}".repeat(12), "0".repeat(1e6),
  ])("is empty for text that is no MAC address: %#", (text) => {
    expect(vendorOf(text)).toBe("");
  });
});
