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
  return new KeyedFlows(places);
}

/** A class, for the reason that `file-places.ts` gives. */
class KeyedFlows implements FlowSet {
  isWhole = true;
  private readonly places: number;
  private readonly hashes: Uint32Array;
  private readonly keys: Uint32Array;
  /** Of those that were added last, where the lower part of each says. */
  private readonly numbers: Uint32Array;

  constructor(places: number) {
    this.places = places;
    this.hashes = new Uint32Array(places);
    this.keys = new Uint32Array(places * KEY_WORDS);
    this.numbers = new Uint32Array(places);
  }

  has(number: number): boolean {
    return !this.isWhole || (number !== 0 && this.numbers[number & (this.places - 1)] === number);
  }

  add(key: FlowKey, number: number): void {
    if (!this.isWhole) return;
    const { places, hashes, keys } = this;
    this.numbers[number & (places - 1)] = number;
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
    this.isWhole = false;
  }

  forEach(visit: (key: FlowKey) => void): void {
    for (let place = 0; place < this.places; place += 1) if (this.hashes[place] !== EMPTY) visit(this.keys.slice(place * KEY_WORDS, (place + 1) * KEY_WORDS));
  }
}
