/** Bits of a sketch: some 2,000 different things are counted before it is full. */
const BITS = 512;
/** Where it is nearly full, another bit stands for very many. */
const MIN_EMPTY = 8;

/** Counts different things of an hour in 64 bytes. */
export interface Distinct {
  /** @returns How many more there are by it: 0 where it was there already, 1 at first, more when others may have hidden behind it. */
  readonly add: (hash: number) => number;
  readonly clear: () => void;
}

/** @see Ting, "Streamed approximate counting of distinct elements", KDD 2014: each new bit counts 1 / the chance that there is one. */
export function createDistinct(): Distinct {
  const words = new Uint32Array(BITS / 32);
  let empty = BITS;
  return {
    add(hash) {
      const bit = hash % BITS;
      const word = words[bit >>> 5] ?? 0;
      const mask = (1 << (bit & 31)) >>> 0;
      if ((word & mask) !== 0 || empty <= MIN_EMPTY) return 0;
      words[bit >>> 5] = word | mask;
      const more = BITS / empty;
      empty -= 1;
      return more;
    },
    clear() {
      words.fill(0);
      empty = BITS;
    },
  };
}
