import { addressKey, formatKey, MAX_KEY_LABELS, MAX_KEY_LENGTH, writeTextKey, writeWireKey } from "./name-key.ts";
import { createNameEndings, hashEndings } from "./name-hash.ts";
import { decodeNameSet, type ListFacts, type NameSetParts } from "./name-set-file.ts";
import type { RuleTrigger } from "../lists/list-rule.ts";
import { firstPlace, RECORD_HEADER, tagOf } from "./name-table.ts";
import type { StoredRule } from "./rule-table.ts";

/** A key of the set that holds what was looked for. */
export interface NameHit {
  /** Labels of the name that the key lacks; 0 is the name itself. Of a network: bits that the address has more. */
  readonly above: number;
  /** Rules of all triggers and scopes that the key has. */
  readonly rules: readonly StoredRule[];
  /** Days since 1970. */
  readonly firstSeenDay: number;
  /** Where the set keeps it, for `keyOf`. */
  readonly at: number;
}

/** Names with their rules; all of it lies in the file's bytes. */
export interface NameSet {
  readonly lists: readonly ListFacts[];
  /** What the rules of each list are compared with. */
  readonly triggers: readonly ReadonlySet<RuleTrigger>[];
  /** Names and networks. */
  readonly size: number;
  readonly builtDay: number;
  /**
   * Finds a name and all names above it.
   * @param name As the decoder writes it, or the bytes of the wire; in any letter case.
   * @returns The longest first; nothing for what is no name.
   */
  find(name: string | Uint8Array): readonly NameHit[];
  /** Finds the networks that an address of four or sixteen bytes lies in. @returns The longest first. */
  findAddress(address: Uint8Array): readonly NameHit[];
  /** A hit's key as text: a name, or a network. */
  keyOf(hit: NameHit): string;
  /** @param key Of one name or network. @returns Days since 1970, or null where the set has no such key. */
  firstSeenDay(key: Uint8Array): number | null;
}

const NONE: readonly NameHit[] = [];

/**
 * @param file What `NameSetBuilder.finish` gave, in one piece that must not change.
 * @returns Why it cannot be used, where it cannot.
 */
export function openNameSet(file: Uint8Array): NameSet | { readonly fault: string } {
  const parts = decodeNameSet(file);
  if ("fault" in parts) return parts;
  const seek = createSeek(parts);
  const { hashKey, records, sets, facts } = parts;
  const endings = createNameEndings();
  const scratch = new Uint8Array(MAX_KEY_LENGTH);
  const root = rulesOfRoot(parts, seek);
  /** By a number of labels: whether any name of the set has as many. Of most names a look-up for the last label alone is spared. */
  const hasLabels = new Uint8Array(MAX_KEY_LABELS + 1);
  for (const labels of facts.labelCounts) hasLabels[labels] = 1;

  const hitAt = (at: number, above: number): NameHit => ({ above, rules: sets[setAt(records, at)] ?? [], firstSeenDay: dayAt(records, at), at });

  function seekKey(key: Uint8Array): number {
    if (key.length === 0) return seek(key, 0, 0, 0);
    if (key.length > MAX_KEY_LENGTH) return -1;
    hashEndings(key, key.length, hashKey, endings);
    return seek(key, 0, key.length, endings.hashes[0] as number);
  }

  return {
    lists: facts.lists, triggers: triggersOf(parts), size: parts.names, builtDay: facts.builtDay,
    find(name) {
      const length = typeof name === "string" ? writeTextKey(name, scratch) : writeWireKey(name, scratch);
      if (length < 0) return NONE;
      let hits: NameHit[] | null = null;
      const labels = length === 0 ? 0 : hashEndings(scratch, length, hashKey, endings);
      for (let label = 0; label < labels; label += 1) {
        if (hasLabels[labels - label] === 0) continue;
        const at = seek(scratch, endings.starts[label] as number, length, endings.hashes[label] as number);
        if (at >= 0) (hits ??= []).push(hitAt(at, label));
      }
      if (root >= 0) (hits ??= []).push(hitAt(root, labels));
      return hits ?? NONE;
    },
    findAddress(address) {
      const lengths = address.length === 4 ? facts.ipv4Lengths : address.length === 16 ? facts.ipv6Lengths : [];
      return lengths.flatMap((bits) => {
        const at = bits <= address.length * 8 ? seekKey(addressKey(address, bits)) : -1;
        return at < 0 ? [] : hitAt(at, address.length * 8 - bits);
      });
    },
    keyOf: ({ at }) => formatKey(records.subarray(at + RECORD_HEADER, at + RECORD_HEADER + (records[at] as number))),
    firstSeenDay(key) {
      const at = seekKey(key);
      return at < 0 ? null : dayAt(records, at);
    },
  };
}

/** Finds the record of the key that lies in `bytes` from `start` to `end`. @returns Where it begins, or -1. */
type Seek = (bytes: Uint8Array, start: number, end: number, hash: number) => number;

function createSeek({ places, tags, records }: NameSetParts): Seek {
  const count = places.length;
  return (bytes, start, end, hash) => {
    const tag = tagOf(hash);
    let place = firstPlace(hash, count);
    for (let tries = 0; tries < count; tries += 1) {
      const value = places[place] as number;
      if (value === 0) return -1;
      if (tags[place] === tag && isKeyAt(records, value - 1, bytes, start, end)) return value - 1;
      place = place + 1 === count ? 0 : place + 1;
    }
    return -1;
  };
}

function isKeyAt(records: Uint8Array, at: number, bytes: Uint8Array, start: number, end: number): boolean {
  if (records[at] !== end - start) return false;
  const shift = at + RECORD_HEADER - start;
  for (let from = start; from < end; from += 1) if (bytes[from] !== records[from + shift]) return false;
  return true;
}

function triggersOf({ facts, sets }: NameSetParts): readonly ReadonlySet<RuleTrigger>[] {
  const triggers = facts.lists.map(() => new Set<RuleTrigger>());
  for (const { list, trigger } of sets.flat()) triggers[list]?.add(trigger);
  return triggers;
}

function rulesOfRoot({ records, sets }: NameSetParts, seek: Seek): number {
  const at = seek(new Uint8Array(0), 0, 0, 0);
  return at >= 0 && (sets[setAt(records, at)] ?? []).length > 0 ? at : -1;
}

function dayAt(records: Uint8Array, at: number): number {
  return (records[at + 1] as number) | ((records[at + 2] as number) << 8);
}

function setAt(records: Uint8Array, at: number): number {
  return (records[at + 3] as number) | ((records[at + 4] as number) << 8) | ((records[at + 5] as number) << 16);
}
