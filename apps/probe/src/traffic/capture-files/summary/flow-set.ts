import { type FlowKey, hashOfKey, isKeyAt, KEY_WORDS } from "./flow-keys.ts";

/** Which flows there are, in memory that never grows; nothing is counted of them. */
export interface FlowSet {
  /** Takes a key that may be there already. @param number By which the flow is known elsewhere, and by nothing else; 0 for none. */
  add(key: FlowKey, number: number): void;
  /** Whether the key of a number need not be added: it was, as far as is still known, or there is no room for it. */
  has(number: number): boolean;
  /** Calls back for each key that is there, in no order. The key is good during the call. */
  forEach(visit: (key: FlowKey) => void): void;
  /** Whether there was room for all of them. */
  readonly isWhole: boolean;
}

/** A key is looked for in so many places, which lie beside each other. */
const WAYS = 8;
/** In place of a hash: nothing is there. */
const EMPTY = 0;

/** @param options.places How many keys are kept; a power of two. From the first one on for which there is no room, nothing is taken. */
export function createFlowSet({ places }: { readonly places: number }): FlowSet {
  const hashes = new Uint32Array(places);
  const keys = new Uint32Array(places * KEY_WORDS);
  /** Of those that were added last, where the lower part of each says. */
  const numbers = new Uint32Array(places);
  const set = {
    isWhole: true,
    has: (number: number) => !set.isWhole || (number !== 0 && numbers[number & (places - 1)] === number),
    add(key: FlowKey, number: number) {
      if (!set.isWhole) return;
      numbers[number & (places - 1)] = number;
      const hash = hashOfKey(key) || 1;
      const first = (hash & (places / WAYS - 1)) * WAYS;
      for (let place = first; place < first + WAYS; place += 1) {
        const there = hashes[place];
        if (there === hash && isKeyAt(keys, place * KEY_WORDS, key)) return;
        if (there !== EMPTY) continue;
        hashes[place] = hash;
        keys.set(key, place * KEY_WORDS);
        return;
      }
      set.isWhole = false;
    },
    forEach(visit: (key: FlowKey) => void) {
      for (let place = 0; place < places; place += 1) if (hashes[place] !== EMPTY) visit(keys.slice(place * KEY_WORDS, (place + 1) * KEY_WORDS));
    },
  };
  return set;
}
