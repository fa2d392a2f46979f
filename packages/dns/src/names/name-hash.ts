/**
 * HalfSipHash-1-3 over the labels of a name, from the last to the first, so that one pass gives the hash of the name and of every name above
 * it. Keyed: who writes a list cannot make names that fall on one place.
 * @see https://www.aumasson.jp/siphash/siphash.pdf; HalfSipHash in the reference implementation of SipHash
 */
import { MAX_KEY_LABELS } from "./name-key.ts";

/** 64 bits that nobody outside knows, in two numbers. */
export type HashKey = readonly [low: number, high: number];

/** Where the labels of a name begin and the hashes of its endings; `hashes[i]` is of the ending that begins at `starts[i]`. */
export interface NameEndings {
  readonly starts: Uint8Array;
  readonly hashes: Uint32Array;
}

/** Room for any name. */
export function createNameEndings(): NameEndings {
  return { starts: new Uint8Array(MAX_KEY_LABELS), hashes: new Uint32Array(MAX_KEY_LABELS) };
}

/**
 * @param bytes Holds a key in its first `length` bytes. A network's is taken as one label.
 * @returns How many labels there are.
 */
export function hashEndings(bytes: Uint8Array, length: number, key: HashKey, endings: NameEndings): number {
  const { starts, hashes } = endings;
  let count = 0;
  if (bytes[0] === 0) starts[count++] = 0;
  else for (let at = 0; at < length; at += 1 + (bytes[at] as number)) starts[count++] = at;
  let v0 = key[0] | 0;
  let v1 = key[1] | 0;
  let v2 = 0x6c796765 ^ v0;
  let v3 = 0x74656462 ^ v1;
  let end = length;
  for (let label = count - 1; label >= 0; label -= 1) {
    const start = starts[label] as number;
    // Words of four bytes; the last has at most three and the label's length above them.
    for (let at = start + 1, isLast = false; !isLast; at += 4) {
      isLast = end - at < 4;
      let word = isLast ? (end - start) << 24 : (bytes[at + 3] as number) << 24;
      if (at < end) word |= bytes[at] as number;
      if (at + 1 < end) word |= (bytes[at + 1] as number) << 8;
      if (at + 2 < end) word |= (bytes[at + 2] as number) << 16;
      v3 ^= word;
      v0 = (v0 + v1) | 0; v1 = (v1 << 5) | (v1 >>> 27); v1 ^= v0; v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0; v3 = (v3 << 8) | (v3 >>> 24); v3 ^= v2;
      v0 = (v0 + v3) | 0; v3 = (v3 << 7) | (v3 >>> 25); v3 ^= v0;
      v2 = (v2 + v1) | 0; v1 = (v1 << 13) | (v1 >>> 19); v1 ^= v2; v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    let a = v0;
    let b = v1;
    let c = v2 ^ 0xff;
    let d = v3;
    for (let round = 0; round < 3; round += 1) {
      a = (a + b) | 0; b = (b << 5) | (b >>> 27); b ^= a; a = (a << 16) | (a >>> 16);
      c = (c + d) | 0; d = (d << 8) | (d >>> 24); d ^= c;
      a = (a + d) | 0; d = (d << 7) | (d >>> 25); d ^= a;
      c = (c + b) | 0; b = (b << 13) | (b >>> 19); b ^= c; c = (c << 16) | (c >>> 16);
    }
    hashes[label] = b ^ d;
    end = start;
  }
  return count;
}
