/**
 * Text of bytes with a checksum that finds every mistyped letter, as age writes its keys.
 * @see BIP-0173
 */

const LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const;
const CHECKSUM_LENGTH = 6;

/** @param prefix Lower-case ASCII. @returns Lower case. */
export function encodeBech32(prefix: string, bytes: Uint8Array): string {
  const words = regroup(bytes, 8, 5, true) ?? [];
  const rest = checksum([...expand(prefix), ...words, ...Array.from({ length: CHECKSUM_LENGTH }, () => 0)]) ^ 1;
  const check = Array.from({ length: CHECKSUM_LENGTH }, (_, index) => (rest >> (5 * (5 - index))) & 31);
  return `${prefix}1${[...words, ...check].map((word) => LETTERS[word]).join("")}`;
}

/** @returns Null for another prefix, a mistyped letter or mixed case. */
export function decodeBech32(prefix: string, text: string): Uint8Array | null {
  const lower = text.toLowerCase();
  if ((text !== lower && text !== text.toUpperCase()) || !lower.startsWith(`${prefix}1`)) return null;
  const words = Array.from(lower.slice(prefix.length + 1), (letter) => LETTERS.indexOf(letter));
  if (words.includes(-1) || words.length < CHECKSUM_LENGTH || checksum([...expand(prefix), ...words]) !== 1) return null;
  const bytes = regroup(words.slice(0, -CHECKSUM_LENGTH), 5, 8, false);
  return bytes && Uint8Array.from(bytes);
}

function expand(prefix: string): readonly number[] {
  const codes = Array.from(prefix, (letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

function checksum(words: readonly number[]): number {
  let sum = 1;
  for (const word of words) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ word;
    for (const [bit, factor] of GENERATOR.entries()) if ((top >> bit) & 1) sum ^= factor;
  }
  return sum >>> 0;
}

/** Bits in groups of another size. @returns Null where what is left over is no padding of zeros. */
function regroup(values: Iterable<number>, from: number, to: number, isPadded: boolean): readonly number[] | null {
  const groups: number[] = [];
  let held = 0;
  let bits = 0;
  for (const value of values) {
    held = ((held << from) | value) & 0xfff;
    for (bits += from; bits >= to; ) {
      bits -= to;
      groups.push((held >> bits) & ((1 << to) - 1));
    }
  }
  const left = held & ((1 << bits) - 1);
  if (isPadded) return bits > 0 ? [...groups, left << (to - bits)] : groups;
  return bits < from && left === 0 ? groups : null;
}
