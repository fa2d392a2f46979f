/** Words of a key: two addresses of four words each, ports, protocol, VLANs, virtual network. */
export const KEY_WORDS = 12;
/** Where each part of a key stands. An IPv4 address is one word, and the three words behind it are 0. */
export const KEY_AT = { low: 0, high: 4, ports: 8, protocol: 9, vlans: 10, network: 11 } as const;

const NONE = -1;
const FIRST_SIZE = 1024;
/** No key has this protocol. */
const NO_PROTOCOL = -1;
const MOST_RECENT = 16_384;

/**
 * An open-addressed hash table from a key of twelve words to the number of an entry, over typed arrays: a look-up allocates nothing. Hashes
 * are keyed (HalfSipHash), so that nobody on the network can aim at one bucket. Most packets are of keys that were found a moment ago: those are looked for first where a
 * quick hash says, which costs a fifth; who aims at that has the keyed one computed, and no more.
 * @see https://github.com/veorq/SipHash, halfsiphash.c
 */
export class KeyIndex {
  /** To be filled before `find` and `add`. */
  readonly key = new Int32Array(KEY_WORDS);
  private readonly maxEntries: number;
  private readonly seedLow: number;
  private readonly seedHigh: number;
  /** Two words a slot: the hash, and the entry's number + 1; 0 is an empty slot. Twice as many slots as entries. */
  private slots = new Int32Array(FIRST_SIZE * 4);
  private mask = FIRST_SIZE * 2 - 1;
  private keys = new Int32Array(FIRST_SIZE * KEY_WORDS).fill(NO_PROTOCOL);
  private hashes = new Int32Array(FIRST_SIZE);
  /** By the quick hash: an entry whose key may be the one. */
  private readonly recent: Int32Array;
  private readonly recentShift: number;
  /** Entries that were removed, to be used again. */
  private readonly free: number[] = [];
  private used = 0;
  private lastHash = 0;

  /** @param random From 0 to below 1: makes the hashes' key. */
  constructor(maxEntries: number, random: () => number) {
    this.maxEntries = maxEntries;
    this.seedLow = Math.floor(random() * 0x1_0000_0000) | 0;
    this.seedHigh = Math.floor(random() * 0x1_0000_0000) | 0;
    const bits = Math.ceil(Math.log2(Math.min(Math.max(maxEntries, 2), MOST_RECENT)));
    this.recent = new Int32Array(2 ** bits);
    this.recentShift = 32 - bits;
  }

  /** How many entries there are. */
  get size(): number {
    return this.used - this.free.length;
  }

  /** Whether `add` must not be called. */
  get isFull(): boolean {
    return this.free.length === 0 && this.used >= this.maxEntries;
  }

  /** @returns The entry of `key`, or -1. */
  find(): number {
    const place = this.quickHash();
    const recent = this.recent[place] as number;
    if (this.isKeyOf(recent)) return recent;
    const entry = this.findSlow();
    if (entry !== NONE) this.recent[place] = entry;
    return entry;
  }

  /** Adds `key`, which `find` has just not found. @returns Its entry: the lowest number that is free at first, any one later. */
  add(): number {
    const entry = this.free.pop() ?? this.used++;
    if (entry >= this.hashes.length) this.grow();
    this.keys.set(this.key, entry * KEY_WORDS);
    this.hashes[entry] = this.lastHash;
    this.place(entry, this.lastHash);
    return entry;
  }

  /** Removes an entry; its number may be given again. */
  remove(entry: number): void {
    const { slots, mask } = this;
    let slot = (this.hashes[entry] as number) & mask;
    while (slots[slot * 2 + 1] !== entry + 1) slot = (slot + 1) & mask;
    // What follows moves up into the hole where it is nearer to its own place.
    for (let next = (slot + 1) & mask; slots[next * 2 + 1] !== 0; next = (next + 1) & mask) {
      const home = (slots[next * 2] as number) & mask;
      if (((next - home) & mask) < ((next - slot) & mask)) continue;
      slots[slot * 2] = slots[next * 2] as number;
      slots[slot * 2 + 1] = slots[next * 2 + 1] as number;
      slot = next;
    }
    slots[slot * 2 + 1] = 0;
    this.keys[entry * KEY_WORDS + KEY_AT.protocol] = NO_PROTOCOL;
    this.free.push(entry);
  }

  /** One word of an entry's key. */
  word(entry: number, at: number): number {
    return this.keys[entry * KEY_WORDS + at] as number;
  }

  /** Some words of an entry's key, a copy. */
  words(entry: number, at: number, count: number): Int32Array {
    return this.keys.slice(entry * KEY_WORDS + at, entry * KEY_WORDS + at + count);
  }

  private findSlow(): number {
    const { slots, mask } = this;
    const hash = this.hashKey();
    this.lastHash = hash;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = (slots[slot * 2 + 1] as number) - 1;
      if (entry === NONE) return NONE;
      if (slots[slot * 2] === hash && this.isKeyOf(entry)) return entry;
    }
  }

  /** Of both addresses' first words and the ports, by Fibonacci's way: the upper bits of a product. */
  private quickHash(): number {
    const { key } = this;
    const words = Math.imul(key[KEY_AT.low] as number, 0x85eb_ca6b) ^ Math.imul(key[KEY_AT.high] as number, 0xc2b2_ae35) ^ (key[KEY_AT.ports] as number);
    return Math.imul(words ^ (words >>> 15), 0x9e37_79b1) >>> this.recentShift;
  }

  private isKeyOf(entry: number): boolean {
    const { key, keys } = this;
    const at = entry * KEY_WORDS;
    for (let word = 0; word < KEY_WORDS; word += 1) {
      if (key[word] !== keys[at + word]) return false;
    }
    return true;
  }

  private place(entry: number, hash: number): void {
    const { slots, mask } = this;
    let slot = hash & mask;
    while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & mask;
    slots[slot * 2] = hash;
    slots[slot * 2 + 1] = entry + 1;
  }

  private grow(): void {
    const size = this.hashes.length * 2;
    const [keys, hashes] = [new Int32Array(size * KEY_WORDS), new Int32Array(size)];
    keys.set(this.keys);
    hashes.set(this.hashes);
    const old = this.slots;
    [this.keys, this.hashes, this.slots, this.mask] = [keys, hashes, new Int32Array(size * 4), size * 2 - 1];
    for (let at = 0; at < old.length; at += 2) {
      const entry = (old[at + 1] as number) - 1;
      if (entry !== NONE) this.place(entry, old[at] as number);
    }
  }

  /** HalfSipHash-1-3 over the words; left out are those of IPv6 for IPv4, as the protocol's word tells the two apart, and VLANs and network where both are 0. */
  private hashKey(): number {
    const { key } = this;
    let [v0, v1, v2, v3] = [this.seedLow, this.seedHigh, 0x6c796765 ^ this.seedLow, 0x74656462 ^ this.seedHigh];
    const isIpv4 = ((key[KEY_AT.protocol] as number) & IPV4_BIT) !== 0;
    const step = isIpv4 ? 4 : 1;
    const words = ((key[KEY_AT.vlans] as number) | (key[KEY_AT.network] as number)) === 0 ? KEY_AT.vlans : KEY_WORDS;
    for (let at = 0; at < words + 3; at += at < KEY_AT.ports ? step : 1) {
      const word = at < words ? (key[at] as number) : 0;
      if (at === words) v2 ^= 0xff;
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    return v1 ^ v3;
  }
}

/** Of the protocol's word: the addresses are IPv4. */
export const IPV4_BIT = 0x100;
