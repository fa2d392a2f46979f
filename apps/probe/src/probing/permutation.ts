import { createHashKey, halfSipHash } from "./frames/half-siphash.ts";

const ROUNDS = 4;

/**
 * Puts the numbers from 0 to `count` - 1 into an order drawn by `random`, without a list: a Feistel network over the next even number of
 * bits, walked on until it ends inside.
 * @param count At most 2^32.
 * @returns The number at a place in that order, 0 to `count` - 1. Each comes once.
 * @see Black and Rogaway, Ciphers with Arbitrary Finite Domains, 2002
 */
export function createPermutation(count: number, random: () => number): (place: number) => number {
  const halfBits = Math.max(1, Math.ceil(Math.log2(Math.max(count, 2)) / 2));
  const half = 2 ** halfBits;
  const mask = half - 1;
  // The rounds' functions: drawn from a table where it is small, as it nearly always is.
  const keys = Array.from({ length: ROUNDS }, () => createHashKey(random));
  const tables = keys.map((key) => Uint16Array.from({ length: half }, (_, index) => halfSipHash(key, [index]) % half));
  const [first, second, third, fourth] = tables as [Uint16Array, Uint16Array, Uint16Array, Uint16Array];
  return (place) => {
    let value = place;
    do {
      let left = value >>> halfBits;
      let right = value & mask;
      left ^= first[right] as number;
      right ^= second[left] as number;
      left ^= third[right] as number;
      right ^= fourth[left] as number;
      value = ((left << halfBits) | right) >>> 0;
    } while (value >= count);
    return value;
  };
}
