import { formatIp } from "@lanthorn/packets";
import type { Binding } from "./binding.ts";

/** Bindings of both families, by address and VLAN. */
export interface BindingTable {
  readonly size: number;
  find(address: Uint8Array, vlanId: number): Binding | null;
  /** @returns Null where there is room for trusted ones only. */
  add(address: Uint8Array, vlanId: number, mac: number, now: number): Binding | null;
  /** Where there are too many, one that nobody has claimed for an hour gives way; while there is none, it is not trusted. */
  trust(binding: Binding, now: number): void;
  setOwner(binding: Binding, mac: number): void;
  /** How many addresses are trusted to be of this MAC, and one of them. */
  ownedBy(mac: number): { readonly count: number; readonly sample: Binding } | null;
}

/** As many hosts as a large layer 2 domain has. */
const MAX_BINDINGS = 100_000;
/** Newcomers always find room. */
const MAX_TRUSTED = 90_000;
/** Hosts are given new IPv6 addresses each day, and leave the old ones. */
const FORGOTTEN_MS = 3_600_000;
/** So many trusted ones are looked at for each newcomer. */
const LOOKS = 4;
/** More conflicts than there can be at once. */
const MAX_LOOKS = 300;
/** Who finds colliding addresses in spite of the seed makes no lookup slow. */
const MAX_CHAIN = 16;
const NONE: readonly number[] = [];

/** The address of a binding. @returns Four or sixteen bytes. */
export function bindingAddress({ key }: Pick<Binding, "key">): Uint8Array {
  const address = new Uint8Array(key.length);
  for (let at = 0; at < key.length; at += 1) address[at] = key.charCodeAt(at);
  return address;
}

/** The address of a binding as text. */
export function bindingText(binding: Pick<Binding, "key">): string {
  return formatIp(bindingAddress(binding));
}

/** Under which an address is kept: one character a byte. */
export function addressKey(address: Uint8Array): string {
  if (address.length !== 4) return Buffer.from(address.buffer, address.byteOffset, address.length).toString("latin1");
  return String.fromCharCode(address[0] as number, address[1] as number, address[2] as number, address[3] as number);
}

/** A seeded hash of an address and its VLAN. @returns A signed number of 32 bits. */
export function hashAddress(address: Uint8Array, vlanId: number, seed: number): number {
  let hash = seed ^ vlanId;
  for (let at = 0; at < address.length; at += 1) hash = Math.imul(hash ^ (address[at] as number), 0x01000193) ^ (hash >>> 15);
  return Math.imul(hash ^ (hash >>> 13), 0x5bd1e995) | 0;
}

/** @param seed Any number of 32 bits. */
export function createBindingTable(seed: number): BindingTable {
  const first = new Map<number, Binding>();
  /** Those that are not trusted, the oldest first: they leave when it is full. */
  const young = new Set<Binding>();
  const old = new Set<Binding>();
  const takeYoung = createRotation(young, MAX_LOOKS);
  const takeOld = createRotation(old, LOOKS);
  const owned = new Map<number, { count: number; sample: Binding }>();
  let size = 0;
  let trusted = 0;

  function count(mac: number, binding: Binding, change: 1 | -1): void {
    const entry = owned.get(mac);
    if (!entry) owned.set(mac, { count: 1, sample: binding });
    else if (entry.count + change === 0) owned.delete(mac);
    else {
      entry.count += change;
      if (change === 1 && entry.sample.mac !== mac) entry.sample = binding;
    }
  }

  function makeRoom(): boolean {
    if (size < MAX_BINDINGS) return true;
    const oldest = takeYoung(({ conflict }) => conflict === null);
    if (!oldest) return false;
    size -= 1;
    unchain(first, oldest);
    return true;
  }

  function forgetTrusted(now: number): void {
    const forgotten = takeOld(({ conflict, seenAt }) => conflict === null && now - seenAt >= FORGOTTEN_MS);
    if (!forgotten) return;
    [size, trusted] = [size - 1, trusted - 1];
    count(forgotten.mac, forgotten, -1);
    unchain(first, forgotten);
  }

  return {
    get size() {
      return size;
    },
    find(address, vlanId) {
      for (let at = first.get(hashAddress(address, vlanId, seed)) ?? null; at !== null; at = at.next) {
        if (at.vlanId === vlanId && isKeyOf(at.key, address)) return at;
      }
      return null;
    },
    add(address, vlanId, mac, now) {
      const hash = hashAddress(address, vlanId, seed);
      let length = 0;
      for (let at = first.get(hash) ?? null; at !== null; at = at.next) length += 1;
      if (length >= MAX_CHAIN || !makeRoom()) return null;
      const binding: Binding = {
        hash, key: addressKey(address), vlanId, mac, firstAt: now, seenAt: now, isTrusted: false, isHearsay: false, members: NONE, sharedAt: Number.NEGATIVE_INFINITY, sharedWith: -1, conflict: null, changes: [],
        askedAt: Number.NEGATIVE_INFINITY, othersAskedAt: Number.NEGATIVE_INFINITY, next: first.get(hash) ?? null,
      };
      first.set(hash, binding);
      young.add(binding);
      size += 1;
      return binding;
    },
    trust(binding, now) {
      if (binding.isTrusted) return;
      if (trusted >= MAX_TRUSTED) forgetTrusted(now);
      if (trusted >= MAX_TRUSTED) return;
      binding.isTrusted = true;
      trusted += 1;
      young.delete(binding);
      old.add(binding);
      count(binding.mac, binding, 1);
    },
    setOwner(binding, mac) {
      if (binding.isTrusted) count(binding.mac, binding, -1);
      binding.mac = mac;
      if (binding.isTrusted) count(mac, binding, 1);
    },
    ownedBy: (mac) => owned.get(mac) ?? null,
  };
}

/** Takes the oldest that may leave out of a set; those that may not go to its end, at most `looks` at once. */
function createRotation(set: Set<Binding>, looks: number): (mayLeave: (binding: Binding) => boolean) => Binding | null {
  // What it has passed is gone or at the end: to begin anew each time would walk over all that has left.
  let oldest = set.values();
  return (mayLeave) => {
    for (let look = 0; look < looks; look += 1) {
      const { value, done } = oldest.next();
      if (done === true) oldest = set.values();
      else {
        set.delete(value);
        if (mayLeave(value)) return value;
        set.add(value);
      }
    }
    return null;
  };
}

function unchain(first: Map<number, Binding>, binding: Binding): void {
  let before: Binding | null = null;
  for (let at = first.get(binding.hash) ?? null; at !== null && at !== binding; at = at.next) before = at;
  if (before) before.next = binding.next;
  else if (binding.next) first.set(binding.hash, binding.next);
  else first.delete(binding.hash);
}

function isKeyOf(key: string, address: Uint8Array): boolean {
  if (key.length !== address.length) return false;
  for (let at = 0; at < address.length; at += 1) if (key.charCodeAt(at) !== address[at]) return false;
  return true;
}
