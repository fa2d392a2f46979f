/** The bits of DEFLATE, lowest first, over pieces of input. @see RFC 1951 section 3.1.1 */
import { FAST_BITS, type HuffmanCode, MAX_CODE_BITS } from "./huffman-code.ts";

/** What `decode` says where the bits that are there begin a code, and where they begin none. */
export const NEEDS_MORE = -1;
const NO_SYMBOL = -2;

/** Reads one piece after the other. Its fields are open, as the run of literals works on copies of them. */
export class BitReader {
  input: Uint8Array = new Uint8Array(0);
  at = 0;
  /** Bits that were taken from the input and not yet used: at most 23. */
  hold = 0;
  bits = 0;

  /** @param count At most 16. @returns Whether so many bits are there. */
  need(count: number): boolean {
    while (this.bits < count) {
      if (this.at >= this.input.length) return false;
      this.hold |= (this.input[this.at] as number) << this.bits;
      this.at += 1;
      this.bits += 8;
    }
    return true;
  }

  /** Uses bits that are there. */
  take(count: number): number {
    const value = this.hold & ((1 << count) - 1);
    this.hold >>>= count;
    this.bits -= count;
    return value;
  }

  /** @returns The next symbol; below 0 where there is none. */
  decode(code: HuffmanCode): number {
    for (;;) {
      const entry = code.fast[this.hold & ((1 << FAST_BITS) - 1)] as number;
      const length = entry & 15;
      if (entry !== 0 && length <= this.bits) {
        this.take(length);
        return entry >> 4;
      }
      const symbol = entry === 0 ? this.#decodeSlowly(code) : NEEDS_MORE;
      if (symbol !== NEEDS_MORE) return symbol;
      if (!this.need(this.bits + 1)) return NEEDS_MORE;
    }
  }

  #decodeSlowly({ counts, symbols }: HuffmanCode): number {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= MAX_CODE_BITS; length += 1) {
      if (length > this.bits) return NEEDS_MORE;
      code |= (this.hold >>> (length - 1)) & 1;
      const count = counts[length] as number;
      if (code - first < count) {
        this.take(length);
        return symbols[index + code - first] as number;
      }
      index += count;
      first = (first + count) * 2;
      code *= 2;
    }
    return NO_SYMBOL;
  }
}
