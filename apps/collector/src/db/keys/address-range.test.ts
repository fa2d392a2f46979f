import { array, assert, bigInt, constantFrom, integer, property, string } from "fast-check";
import ipaddr from "ipaddr.js";
import { expect, test } from "vitest";
import { addressKey } from "./address-key.ts";
import { addressOf, covers, enclosing, keyOf, numberOf, parseNetwork } from "./address-range.ts";

const bytes = constantFrom(4, 16).chain((length) => array(integer({ min: 0, max: 255 }), { minLength: length, maxLength: length }));
/** An address and a length of its family, as people write them: bits behind the prefix are there. */
const network = bytes.chain(
  (address) => integer({ min: 0, max: address.length * 8 }).map((length) => `${ipaddr.fromByteArray(address).toString()}/${length}`),
);
const settings = { seed: 11, numRuns: 500 } as const;
const parse = (text: string) => {
  const range = parseNetwork(text);
  if (!range) throw new Error(`${text} is none`);
  return range;
};

test("a network has 2^n addresses, begins at a multiple of that, and is read back as it is spelled", () => {
  assert(property(network, (text) => {
    const range = parse(text);
    const size = 1n << BigInt(range.hostBits);
    expect(numberOf(range.last) - numberOf(range.first) + 1n).toBe(size);
    expect(numberOf(range.first) % size).toBe(0n);
    expect(parse(range.network)).toEqual(range);
  }), settings);
});

test("the networks around one are all that hold it, from itself to the whole", () => {
  assert(property(network, (text) => {
    const range = parse(text);
    const ways = enclosing(range);
    expect(ways[0]).toBe(range.network);
    expect(ways.at(-1)).toMatch(/^(0\.0\.0\.0|::)\/0$/);
    expect(new Set(ways).size).toBe(ways.length);
    for (const [shorter, way] of ways.entries()) {
      expect([covers(parse(way), range), parse(way).hostBits]).toEqual([true, range.hostBits + shorter]);
    }
  }), settings);
});

test("two networks of a family nest or have nothing in common", () => {
  assert(property(network, network, (one, other) => {
    const [a, b] = [parse(one), parse(other)];
    const meet = a.first <= b.last && b.first <= a.last;
    expect(meet).toBe(covers(a, b) || covers(b, a));
  }), settings);
});

test("a key, its number and its address are one", () => {
  assert(property(bytes, (address) => {
    const text = ipaddr.fromByteArray(address).toString();
    const key = addressKey(text);
    expect(keyOf(numberOf(key), key)).toBe(key);
    // An IPv4-mapped address is the IPv4 one.
    expect(addressKey(addressOf(key))).toBe(key);
  }), settings);
  assert(property(bigInt({ min: 0n, max: 2n ** 128n - 1n }), (number) => numberOf(keyOf(number, addressKey("::"))) === number), settings);
});

test("what is no network is none, and nothing throws", () => {
  for (const text of [
    "", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "host/8", "10.0.0/8", "010.0.0.0/8", "10.0.0.0/-1", "::ffff:10.0.0.0/95",
  ]) {
    expect(parseNetwork(text)).toBeNull();
  }
  assert(property(string(), (text) => {
    const range = parseNetwork(text);
    return range === null || parseNetwork(range.network) !== null;
  }), settings);
});
