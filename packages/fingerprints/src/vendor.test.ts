import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { createVendorLookup } from "./vendor.ts";

const registry = JSON.parse(readFileSync(createRequire(import.meta.url).resolve("oui-data"), "utf8")) as Readonly<Record<string, string>>;
const lookup = createVendorLookup();

const vendorOf = (mac: string) => lookup.vendorOf(mac);
const nameOf = (prefix: string) => registry[prefix]?.split("\n")[0]?.trim();
const macOf = (digits: string) => digits.toLowerCase().match(/../g)?.join(":") ?? "";

/** The registry's answer the plain way: the longest prefix that is a key. */
const expectedFor = (digits: string) => nameOf(digits.slice(0, 9)) ?? nameOf(digits.slice(0, 7)) ?? nameOf(digits.slice(0, 6)) ?? "";

describe("the vendor of a MAC address", () => {
  test("is the registry's for the first and last address of every prefix, by its longest one", () => {
    const prefixes = Object.keys(registry);
    expect(prefixes.length).toBeGreaterThan(50_000);
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
