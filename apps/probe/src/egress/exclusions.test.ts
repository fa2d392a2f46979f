import { type AddressPrefix, formatIp, parseIp, prefixHolds } from "@lanthorn/packets";
import { processorMs } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createExclusions, parsePrefixes } from "./exclusions.ts";

const ip = (text: string) => parseIp(text) as Uint8Array;
const excluding = (...texts: readonly string[]) =>
  createExclusions((parsePrefixes(texts) as { readonly prefixes: readonly AddressPrefix[] }).prefixes);

test("a list of prefixes is refused at its first wrong text", () => {
  for (const wrong of ["", "192.168.1", "192.168.1.1/33", "fe80::/129", "10.0.0.0/", "10.0.0.0/-1", "eth0", "10.0.0.1-10.0.0.9"]) {
    expect(parsePrefixes(["10.0.0.0/8", wrong])).toEqual({ wrong });
  }
});

describe("thousands of excluded addresses", () => {
  /** The contract's limit. */
  const MOST = 4096;
  /** Seeded, so that a failure can be looked at again. */
  const createRandom = (seed: number) => {
    let state = seed;
    return (limit: number) => Math.floor(((state = (state * 48_271) % 2_147_483_647) / 2_147_483_647) * limit);
  };
  /** Of few different bytes, so that prefixes lie in each other and addresses hit them. */
  const randomIp = (random: (limit: number) => number, length: number) =>
    Uint8Array.from({ length }, (_, at) => (at < length - 2 ? random(2) * 255 : random(256)));

  test("are looked up as one by one", () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = createRandom(seed * 7919);
      const texts = Array.from({ length: 60 }, () => {
        const [address, bits] = random(2) === 0 ? [randomIp(random, 4), 32] as const : [randomIp(random, 16), 128] as const;
        return `${formatIp(address)}/${bits - random(seed % 2 === 0 ? bits + 1 : 12)}`;
      });
      const exclusions = excluding(...texts);
      for (let round = 0; round < 500; round += 1) {
        const address = randomIp(random, random(2) === 0 ? 4 : 16);
        const frame = Uint8Array.of(9, 9, 9, ...address, 9);
        const expected = exclusions.prefixes.some((prefix) => prefixHolds(prefix, address, 0, address.length));
        expect([exclusions.holds(address), exclusions.holds(frame, 3, address.length)]).toEqual([expected, expected]);
      }
    }
    expect(excluding("0.0.0.0/0").holds(ip("fe80::1"))).toBe(false);
    expect(excluding("::/0").holds(ip("255.255.255.255"))).toBe(false);
    expect(excluding("10.0.0.0/8").holds(Uint8Array.of(10, 0, 0), 0, 4)).toBe(false);
  });

  test("do not hold up a scan that looks through a /16", () => {
    const exclusions = excluding(...Array.from({ length: MOST }, (_, at) => `10.0.${at >>> 8}.${at & 255}`));
    const address = ip("10.0.0.0").slice();
    let held = 0;
    expect(processorMs(() => {
      for (let number = 0; number < 65_536; number += 1) {
        address[2] = number >>> 8;
        address[3] = number & 255;
        if (exclusions.holds(address)) held += 1;
      }
    })).toBeLessThan(500);
    expect(held).toBe(MOST);
  });
});
