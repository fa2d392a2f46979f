/** `xbits` and `hostbits`: what rules remember of hosts and pairs of hosts, in the time of the packets. */

import type { HostBit } from "../rules/state-condition.ts";
import { createBoundedTable } from "./bounded-table.ts";
import { type Ends, trackKey } from "./track-key.ts";

/** Bits of hosts. Those that were set longest ago go where there are too many. */
export interface HostBits {
  /** @returns Whether what the rule asks holds; true for what changes something. */
  holds(bit: HostBit, ends: Ends, atMicroseconds: number): boolean;
  /** Does what the rule says once all of it matched. */
  change(bit: HostBit, ends: Ends, atMicroseconds: number): void;
  readonly size: () => number;
  readonly evicted: () => number;
}

/** Some 150 bytes each. */
const MAX_HOST_BITS = 100_000;

/** @param maxBits How many are kept, of all names and hosts. */
export function createHostBits(maxBits = MAX_HOST_BITS): HostBits {
  const endsAt = createBoundedTable<number>(maxBits);
  // A bit that was set of a source is found of a destination: it is the host's.
  const keyOf = ({ name, track }: HostBit, ends: Ends) => `${track === "source" || track === "destination" ? "host" : track} ${name} ${trackKey(track, ends)}`;
  const isSet = (key: string, at: number): boolean => {
    const end = endsAt.get(key);
    if (end === undefined) return false;
    if (at <= end) return true;
    endsAt.remove(key);
    return false;
  };
  return {
    holds: (bit, ends, at) => {
      if (bit.operation !== "is-set" && bit.operation !== "is-not-set") return true;
      return isSet(keyOf(bit, ends), at) === (bit.operation === "is-set");
    },
    change: (bit, ends, at) => {
      const key = keyOf(bit, ends);
      const sets = bit.operation === "set" || (bit.operation === "toggle" && !isSet(key, at));
      if (sets) endsAt.put(key, bit.seconds === 0 ? Infinity : at + bit.seconds * 1_000_000);
      else if (bit.operation === "unset" || bit.operation === "toggle") endsAt.remove(key);
    },
    size: endsAt.size,
    evicted: endsAt.evicted,
  };
}
