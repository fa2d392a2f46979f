import { createBoundedMap } from "../../bounded-map.ts";

/** Counts senders that were not heard before. */
export interface NewNeighbors {
  /** @returns When this sender and chassis was heard first, and whether so many are new that they must be forged. */
  add(key: string, now: number): { readonly since: number; readonly isFlood: boolean };
}

/** A closet of phones that starts at once has fewer. */
export const FLOOD = { neighbors: 64, withinMs: 10_000 } as const;
const MAX_NEW = 512;

/** Keeps 512 senders; the oldest leaves first. */
export function createNewNeighbors(): NewNeighbors {
  const fresh = createBoundedMap<string, number>(MAX_NEW);
  let window = { since: Number.NEGATIVE_INFINITY, count: 0 };
  return {
    add(key, now) {
      if (now - window.since >= FLOOD.withinMs) window = { since: now, count: 0 };
      const known = fresh.get(key);
      if (known === undefined) {
        window.count += 1;
        fresh.put(key, now);
      }
      return { since: known ?? now, isFlood: window.count > FLOOD.neighbors };
    },
  };
}
