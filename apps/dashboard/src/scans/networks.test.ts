import { expect, test } from "vitest";
import { addressesIn, isWithin, type Network, parseNetwork } from "./networks.ts";

const read = (text: string): Network => parseNetwork(text) ?? expect.fail(`${text} is not read`);

test("networks of both families are read, with addresses as networks of one", () => {
  expect(addressesIn(read("10.0.0.7/24"))).toBe(256n);
  expect(addressesIn(read("10.0.0.7"))).toBe(1n);
  expect(addressesIn(read("fe80::/64"))).toBe(2n ** 64n);
  expect(read("2001:db8::1")).toEqual({ bits: 128, first: 0x2001_0db8_0000_0000_0000_0000_0000_0001n, length: 128 });
  expect(["", "10.0.0", "10.0.0.256", "10.0.0.0/33", "10.0.0.0/8/8", "::1::", "1:2:3:4:5:6:7:8::", "fe80::g", "host"].map(parseNetwork)).toEqual(Array.from({ length: 9 }, () => null));
});

test("a network lies in another of its own family alone", () => {
  expect(isWithin(read("10.0.1.0/24"), read("10.0.0.0/16"))).toBe(true);
  expect(isWithin(read("10.0.0.0/16"), read("10.0.1.0/24"))).toBe(false);
  expect(isWithin(read("fe80::1"), read("fe80::/10"))).toBe(true);
  expect(isWithin(read("10.0.0.1"), read("::/0"))).toBe(false);
});
