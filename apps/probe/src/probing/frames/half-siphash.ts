/**
 * HalfSipHash-2-4 of 32-bit words: a keyed hash that nobody can guess without the key. The sequence number of each SYN is one, so that an
 * answer proves itself and nothing has to be remembered of what was asked.
 * @see Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012; and its reference code for the 32-bit variant
 */
export interface HashKey {
  readonly k0: number;
  readonly k1: number;
}

const BLOCK_ROUNDS = 2;
const FINAL_ROUNDS = 4;

/** @param random In [0, 1). */
export function createHashKey(random: () => number): HashKey {
  return { k0: Math.floor(random() * 2 ** 32) | 0, k1: Math.floor(random() * 2 ** 32) | 0 };
}

/** @returns An unsigned 32-bit number for one or more little-endian words. */
export function halfSipHash({ k0, k1 }: HashKey, words: readonly number[]): number {
  let v0 = k0;
  let v1 = k1;
  let v2 = 0x6c796765 ^ k0;
  let v3 = 0x74656462 ^ k1;
  const end = words.length + 1;
  // Indexed, with no closure and no iterator: it runs for each frame that a scan sends and gets.
  for (let block = 0; block <= end; block += 1) {
    const word = block < words.length ? (words[block] as number) : (words.length * 4) << 24;
    if (block === end) v2 ^= 0xff;
    else v3 ^= word;
    for (let round = block === end ? FINAL_ROUNDS : BLOCK_ROUNDS; round > 0; round -= 1) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    if (block !== end) v0 ^= word;
  }
  return (v1 ^ v3) >>> 0;
}
