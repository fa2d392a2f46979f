import { hashAddress } from "./binding-table.ts";

/** Which addresses somebody was heard asking for lately. Of fixed size: a flood of requests makes a few answers look asked for. */
export interface RecentRequests {
  note(address: Uint8Array, vlanId: number, now: number): void;
  wasAsked(address: Uint8Array, vlanId: number, now: number): boolean;
}

const SLOTS = 4096;
/** A host repeats a request after a second and takes an answer for as long. */
const ASKED_MS = 2000;

/** @param seed Any number of 32 bits. */
export function createRecentRequests(seed: number): RecentRequests {
  const times = new Float64Array(SLOTS).fill(Number.NEGATIVE_INFINITY);
  const hashes = new Int32Array(SLOTS);
  return {
    note(address, vlanId, now) {
      const hash = hashAddress(address, vlanId, seed);
      times[hash & (SLOTS - 1)] = now;
      hashes[hash & (SLOTS - 1)] = hash;
    },
    wasAsked(address, vlanId, now) {
      const hash = hashAddress(address, vlanId, seed);
      const slot = hash & (SLOTS - 1);
      return hashes[slot] === hash && now - (times[slot] as number) <= ASKED_MS;
    },
  };
}
