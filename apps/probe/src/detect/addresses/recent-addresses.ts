import { hashAddress } from "./binding-table.ts";

/** Which addresses were noted lately. Of fixed size: in a flood of them a few are forgotten, or taken for others. */
export interface RecentAddresses {
  note(address: Uint8Array, vlanId: number, now: number): void;
  has(address: Uint8Array, vlanId: number, now: number): boolean;
}

/** @param seed Any number of 32 bits. @param bounds.slots A power of two. @param bounds.ms For how long one is remembered. */
export function createRecentAddresses(seed: number, { slots, ms }: { readonly slots: number; readonly ms: number }): RecentAddresses {
  const times = new Float64Array(slots).fill(Number.NEGATIVE_INFINITY);
  const hashes = new Int32Array(slots);
  return {
    note(address, vlanId, now) {
      const hash = hashAddress(address, vlanId, seed);
      times[hash & (slots - 1)] = now;
      hashes[hash & (slots - 1)] = hash;
    },
    has(address, vlanId, now) {
      const hash = hashAddress(address, vlanId, seed);
      const slot = hash & (slots - 1);
      return hashes[slot] === hash && now - (times[slot] as number) <= ms;
    },
  };
}
