import { type FlowKey, hashOfKey, isKeyAt, KEY_WORDS } from "./flow-keys.ts";

/** Counts frames by key, in memory that never grows: where there are more keys than places, those with the least octets go. */
export interface FlowTally {
  /** Counts a frame. @param isFirst Whether the sender is the key's first end. @param at Microseconds since the epoch. */
  add(key: FlowKey, octets: number, isFirst: boolean, at: number): void;
  /** Counts what another table counted. */
  addMany(key: FlowKey, amount: Pick<TallyEntry, "frames" | "octets" | "firstAt" | "lastAt">): void;
  /** Calls back for each key that is there, in no order. The entry is good during the call. */
  forEach(visit: (entry: TallyEntry) => void): void;
  /** Keys that gave way: above 0 there were more than are kept. */
  readonly evicted: number;
  clear(): void;
}

/** What is counted of one key. */
export interface TallyEntry {
  readonly key: FlowKey;
  readonly frames: number;
  readonly octets: number;
  /** Whether the key's first end sent the first frame. */
  readonly isFirstSender: boolean;
  /** Microseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** A key is looked for in so many places, which lie beside each other. */
const WAYS = 8;
/** In place of a hash: nothing is there. */
const EMPTY = 0;
/** Numbers that are kept of a key: frames, octets, whether the first end began, first and last time. */
const NUMBERS = 5;

/**
 * @param options.places How many keys are kept; a power of two.
 * @param options.onEvicted What gives way. The entry is good during the call.
 */
export function createFlowTally(options: { readonly places: number; readonly onEvicted?: (entry: TallyEntry) => void }): FlowTally {
  const { places } = options;
  /** Those of the places of one set lie in one line of the processor's cache, and tell nearly every other key from the one that is looked for. */
  const hashes = new Uint32Array(places);
  const keys = new Uint32Array(places * KEY_WORDS);
  const numbers = new Float64Array(places * NUMBERS);
  /** One object for all: a flood of new keys makes this run for each frame. */
  const entry = { key: new Uint32Array(KEY_WORDS), frames: 0, octets: 0, isFirstSender: false, firstAt: 0, lastAt: 0 };
  const entryAt = (place: number): TallyEntry => {
    const at = place * NUMBERS;
    for (let index = 0; index < KEY_WORDS; index += 1) entry.key[index] = keys[place * KEY_WORDS + index] as number;
    entry.frames = numbers[at] as number;
    entry.octets = numbers[at + 1] as number;
    entry.isFirstSender = numbers[at + 2] === 1;
    entry.firstAt = numbers[at + 3] as number;
    entry.lastAt = numbers[at + 4] as number;
    return entry;
  };

  /** @returns Where the key is, or where it may be put. */
  function find(key: FlowKey, hash: number): number {
    const set = (hash & (places / WAYS - 1)) * WAYS;
    for (let place = set; place < set + WAYS; place += 1) {
      const there = hashes[place];
      if (there === EMPTY || (there === hash && isKeyAt(keys, place * KEY_WORDS, key))) return place;
    }
    return makeRoom(set);
  }

  /** The key with the least octets of a set gives way. */
  function makeRoom(set: number): number {
    let least = set;
    for (let place = set + 1; place < set + WAYS; place += 1) {
      if ((numbers[place * NUMBERS + 1] as number) < (numbers[least * NUMBERS + 1] as number)) least = place;
    }
    tally.evicted += 1;
    options.onEvicted?.(entryAt(least));
    hashes[least] = EMPTY;
    return least;
  }

  /** Counts at the key's place, which is made if there is none. */
  function count(key: FlowKey, frames: number, octets: number, isFirst: boolean, firstAt: number, lastAt: number): void {
    const hash = hashOfKey(key) || 1;
    const place = find(key, hash);
    const base = place * NUMBERS;
    if (hashes[place] === EMPTY) {
      hashes[place] = hash;
      for (let index = 0; index < KEY_WORDS; index += 1) keys[place * KEY_WORDS + index] = key[index] as number;
      numbers[base] = 0;
      numbers[base + 1] = 0;
      numbers[base + 2] = isFirst ? 1 : 0;
      numbers[base + 3] = firstAt;
    }
    numbers[base] = (numbers[base] as number) + frames;
    numbers[base + 1] = (numbers[base + 1] as number) + octets;
    numbers[base + 4] = lastAt;
  }

  const tally = {
    evicted: 0,
    add: (key: FlowKey, octets: number, isFirst: boolean, at: number) => count(key, 1, octets, isFirst, at, at),
    addMany: (key: FlowKey, { frames, octets, firstAt, lastAt }: Pick<TallyEntry, "frames" | "octets" | "firstAt" | "lastAt">) =>
      count(key, frames, octets, true, firstAt, lastAt),
    forEach(visit: (entry: TallyEntry) => void) {
      for (let place = 0; place < places; place += 1) if (hashes[place] !== EMPTY) visit(entryAt(place));
    },
    clear() {
      hashes.fill(EMPTY);
      tally.evicted = 0;
    },
  };
  return tally;
}
