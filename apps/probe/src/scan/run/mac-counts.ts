/** How often each MAC was seen. */
export interface MacCounts {
  /** @param key As `macKey` makes it. @returns How often it was seen, this time included. */
  add(key: number): number;
  /** 0 for one that was not seen. */
  of(key: number): number;
}

const FIRST_BITS = 8;
/** No MAC: keys are 48 bits. */
const NONE = -1;

/**
 * A table of numbers: a `Map` of 65,536 of these keys takes several times as long, as each key is an object of its own.
 * @param random In [0, 1). It decides where keys lie, so that nobody can choose MACs that lie together.
 * @see Dietzfelbinger et al., A Reliable Randomized Algorithm for the Closest-Pair Problem, 1997: multiply-shift
 */
export function createMacCounts(random: () => number): MacCounts {
  const odd = () => (Math.floor(random() * 0x1_0000_0000) | 1) >>> 0;
  const [lowFactor, highFactor] = [odd(), odd()];
  let bits = FIRST_BITS;
  let keys = new Float64Array(2 ** bits).fill(NONE);
  let counts = new Uint32Array(2 ** bits);
  let used = 0;

  /** @returns Where the key is, or is to be. */
  const placeOf = (key: number): number => {
    const hash = Math.imul(key >>> 0, lowFactor) + Math.imul(Math.floor(key / 0x1_0000_0000), highFactor);
    let place = hash >>> (32 - bits);
    while (keys[place] !== key && keys[place] !== NONE) place = (place + 1) & (keys.length - 1);
    return place;
  };
  const grow = () => {
    const [oldKeys, oldCounts] = [keys, counts];
    bits += 1;
    keys = new Float64Array(2 ** bits).fill(NONE);
    counts = new Uint32Array(2 ** bits);
    for (let index = 0; index < oldKeys.length; index += 1) {
      const key = oldKeys[index] as number;
      if (key === NONE) continue;
      const place = placeOf(key);
      keys[place] = key;
      counts[place] = oldCounts[index] as number;
    }
  };
  return {
    add(key) {
      let place = placeOf(key);
      if (keys[place] === NONE) {
        used += 1;
        if (used * 2 > keys.length) {
          grow();
          place = placeOf(key);
        }
        keys[place] = key;
      }
      const count = (counts[place] as number) + 1;
      counts[place] = count;
      return count;
    },
    of: (key) => counts[placeOf(key)] as number,
  };
}
