/** Which MACs were seen, of fixed size: two generations of a Bloom filter. */
export interface SeenMacs {
  /** @param offset Of the MAC's first byte. @returns Whether it was not seen before; now and then one that is new is taken for seen. */
  add(bytes: Uint8Array, offset: number): boolean;
}

/** A bit for each; with two hashes and as many MACs as below, one in 40 that are new is not counted. */
const BITS = 1 << 20;
const MAX_IN_GENERATION = 80_000;

/** 256 KiB. */
export function createSeenMacs(): SeenMacs {
  let [now, before] = [new Uint32Array(BITS / 32), new Uint32Array(BITS / 32)];
  let size = 0;
  const has = (bits: Uint32Array, a: number, b: number) =>
    (((bits[a >>> 5] as number) >>> (a & 31)) & ((bits[b >>> 5] as number) >>> (b & 31)) & 1) === 1;
  return {
    add(bytes, offset) {
      const high = ((bytes[offset] as number) << 16) | ((bytes[offset + 1] as number) << 8) | (bytes[offset + 2] as number);
      const low = ((bytes[offset + 3] as number) << 16) | ((bytes[offset + 4] as number) << 8) | (bytes[offset + 5] as number);
      const mixed = Math.imul(high ^ Math.imul(low, 0x9e3779b1), 0x85ebca6b);
      const a = (mixed ^ (mixed >>> 13)) & (BITS - 1);
      const b = (Math.imul(mixed ^ low, 0xc2b2ae35) >>> 11) & (BITS - 1);
      if (has(now, a, b)) return false;
      const isNew = !has(before, a, b);
      if (size >= MAX_IN_GENERATION) {
        [now, before] = [before.fill(0), now];
        size = 0;
      }
      now[a >>> 5] = (now[a >>> 5] as number) | (1 << (a & 31));
      now[b >>> 5] = (now[b >>> 5] as number) | (1 << (b & 31));
      size += 1;
      return isNew;
    },
  };
}
