/** Codes of DEFLATE, made ready for decoding. @see RFC 1951 section 3.2.2 */

/** Codes up to so many bits are read from a table; longer ones bit by bit, as they are seldom. */
export const FAST_BITS = 9;
/** The longest code. */
export const MAX_CODE_BITS = 15;

/** A code of up to 320 symbols. */
export interface HuffmanCode {
  /** By the next 9 bits: symbol × 16 + length of its code; 0 where it is longer or not there. */
  readonly fast: Uint16Array;
  /** How many codes there are of each length. */
  readonly counts: Uint16Array;
  /** By length, and among equals by value. */
  readonly symbols: Uint16Array;
}

/**
 * @param lengths Of the code of each symbol; 0 for none.
 * @param mayBeIncomplete One code of one bit will do, as zlib writes it for a single distance.
 * @returns `null` where the lengths make no code.
 */
export function createHuffmanCode(lengths: Uint8Array, mayBeIncomplete: boolean): HuffmanCode | null {
  const counts = new Uint16Array(MAX_CODE_BITS + 1);
  for (const length of lengths) counts[length] = (counts[length] as number) + 1;
  counts[0] = 0;
  let left = 1;
  let longest = 0;
  for (let length = 1; length <= MAX_CODE_BITS; length += 1) {
    left = left * 2 - (counts[length] as number);
    if (left < 0) return null;
    if (counts[length] !== 0) longest = length;
  }
  if (left > 0 && !(mayBeIncomplete && longest <= 1)) return null;
  const offsets = new Uint16Array(MAX_CODE_BITS + 2);
  const codes = new Uint16Array(MAX_CODE_BITS + 2);
  for (let length = 1; length <= MAX_CODE_BITS; length += 1) {
    offsets[length + 1] = (offsets[length] as number) + (counts[length] as number);
    codes[length + 1] = ((codes[length] as number) + (counts[length] as number)) * 2;
  }
  const symbols = new Uint16Array(lengths.length);
  const fast = new Uint16Array(1 << FAST_BITS);
  for (const [symbol, length] of lengths.entries()) {
    if (length === 0) continue;
    symbols[offsets[length] as number] = symbol;
    offsets[length] = (offsets[length] as number) + 1;
    const code = codes[length] as number;
    codes[length] = code + 1;
    if (length > FAST_BITS) continue;
    for (let index = reverseBits(code, length); index < fast.length; index += 1 << length) fast[index] = symbol * 16 + length;
  }
  return { fast, counts, symbols };
}

/** Codes are packed with their highest bit first, all else with the lowest. */
function reverseBits(code: number, length: number): number {
  let reversed = 0;
  for (let bit = 0; bit < length; bit += 1) reversed |= ((code >> bit) & 1) << (length - 1 - bit);
  return reversed;
}

function fixedLengths(): Uint8Array {
  return Uint8Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8));
}

/** The codes of blocks that bring none. @see RFC 1951 section 3.2.6 */
export const FIXED_CODES = {
  literals: createHuffmanCode(fixedLengths(), false) as HuffmanCode,
  distances: createHuffmanCode(new Uint8Array(32).fill(5), false) as HuffmanCode,
};
