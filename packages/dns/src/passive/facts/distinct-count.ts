/** How many different values there were, from a bitmap: linear counting. */
import { hashText } from "./hash.ts";

/** A thousand values are counted to some percent, and four thousand and more are "many". */
const BITS = 1024;

/** Counts different texts in 128 bytes. */
export interface DistinctCount {
  /** @returns Whether it was not there before, as far as that can be said. */
  add(text: string): boolean;
  /** The estimate. */
  read(): number;
}

/** @param key Of the hash. */
export function createDistinctCount(key: number): DistinctCount {
  const bitmap = new Uint8Array(BITS / 8);
  let set = 0;
  return {
    add(text) {
      const bit = hashText(text, key) % BITS;
      const [at, mask] = [bit >>> 3, 1 << (bit & 7)];
      if (((bitmap[at] as number) & mask) !== 0) return false;
      bitmap[at] = (bitmap[at] as number) | mask;
      set += 1;
      return true;
    },
    read: () => (set >= BITS ? BITS * Math.log(BITS) : Math.round(-BITS * Math.log(1 - set / BITS))),
  };
}
