import { hashMac } from "../addresses/mac-number.ts";

/** The MACs that were added last. */
export interface LatestMacs {
  has(mac: number): boolean;
  /** @param mac One that is not there. The one that was added first makes room. */
  add(mac: number): void;
}

const NONE = -1;

/** Of fixed size, and cheaper than a `Set`, which calls out for numbers of 48 bits: it is asked for most frames. @param size A power of two. */
export function createLatestMacs(size: number): LatestMacs {
  const macs = new Float64Array(size).fill(NONE);
  /** Of each hash the place of the MAC that was added last; of each place the one before it. */
  const first = new Int32Array(size).fill(NONE);
  const before = new Int32Array(size).fill(NONE);
  let next = 0;

  function remove(place: number): void {
    const slot = hashMac(macs[place] as number) & (size - 1);
    // The oldest is the last of its chain.
    let after = NONE;
    for (let at = first[slot] as number; at !== place; at = before[at] as number) after = at;
    if (after === NONE) first[slot] = NONE;
    else before[after] = NONE;
  }
  return {
    has(mac) {
      for (let at = first[hashMac(mac) & (size - 1)] as number; at !== NONE; at = before[at] as number) if (macs[at] === mac) return true;
      return false;
    },
    add(mac) {
      if (macs[next] !== NONE) remove(next);
      const slot = hashMac(mac) & (size - 1);
      macs[next] = mac;
      before[next] = first[slot] as number;
      first[slot] = next;
      next = (next + 1) & (size - 1);
    },
  };
}
