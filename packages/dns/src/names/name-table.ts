/**
 * A hash table of names in typed arrays, while it grows. A name is one record in pages of bytes; a place of the table is the record's
 * offset and one byte of the hash, so that a name that is not there is seldom compared.
 */
import { createNameEndings, hashEndings, type HashKey } from "./name-hash.ts";

/**
 * Of a record, before the key: its length in one byte, the day it was first seen in two, the number of its set of rules in three. All
 * numbers are little-endian.
 */
export const RECORD_HEADER = 6;

const PAGE_BITS = 20;
const PAGE_LENGTH = 1 << PAGE_BITS;
const MAX_RECORD_LENGTH = RECORD_HEADER + 255;
/** Offsets have 32 bits, of which 0 is an empty place. */
const MAX_PAGES = 2 ** 32 / PAGE_LENGTH - 1;
/** Beyond this share of its places in use, a table grows. */
const MAX_LOAD = 0.8;
const MIN_PLACES = 1024;

/** Where a record is: its page and its place in it. */
export interface RecordPlace {
  page: Uint8Array;
  at: number;
}

/** A growing table. */
export interface NameTable {
  /** Names that were added. */
  readonly size: () => number;
  /**
   * Finds a key or adds it, with day and set 0.
   * @returns Where its record is, good until the next call; null where the table is full.
   */
  place(key: Uint8Array): { readonly record: RecordPlace; readonly isNew: boolean } | null;
  /** The table for a file: places with offset + 1 of their record, the bytes of their hashes, and the records' pages in order. */
  pack(): { readonly places: Uint32Array; readonly tags: Uint8Array; readonly pages: readonly Uint8Array[] };
}

/** The place at which the search for a hash begins. */
export function firstPlace(hash: number, places: number): number {
  return Math.floor(hash * (places / 2 ** 32));
}

/** The byte that a place keeps of a hash: bits that `firstPlace` hardly looks at. */
export function tagOf(hash: number): number {
  return hash & 0xff;
}

/** @param expected Names; only how often the table grows depends on it. */
export function createNameTable(key: HashKey, expected: number): NameTable {
  const endings = createNameEndings();
  const pages: Uint8Array[] = [];
  let used = PAGE_LENGTH;
  let names = 0;
  let places = new Uint32Array(0);
  let tags = new Uint8Array(0);
  resize(Math.ceil(Math.max(expected, MIN_PLACES) / MAX_LOAD));
  const record: RecordPlace = { page: new Uint8Array(0), at: 0 };

  function hashOf(bytes: Uint8Array, length: number): number {
    return hashEndings(bytes, length, key, endings) === 0 ? 0 : (endings.hashes[0] as number);
  }

  function seek(offset: number): RecordPlace {
    record.page = pages[offset >>> PAGE_BITS] as Uint8Array;
    record.at = offset & (PAGE_LENGTH - 1);
    return record;
  }

  function resize(count: number): void {
    const [nextPlaces, nextTags] = [new Uint32Array(count), new Uint8Array(count)];
    for (const value of places) {
      if (value === 0) continue;
      const { page, at } = seek(value - 1);
      const start = at + RECORD_HEADER;
      const hash = hashOf(page.subarray(start, start + (page[at] as number)), page[at] as number);
      let place = firstPlace(hash, count);
      while (nextPlaces[place] !== 0) place = place + 1 === count ? 0 : place + 1;
      nextPlaces[place] = value;
      nextTags[place] = tagOf(hash);
    }
    [places, tags] = [nextPlaces, nextTags];
  }

  function append(bytes: Uint8Array): number | null {
    if (used + MAX_RECORD_LENGTH > PAGE_LENGTH) {
      if (pages.length >= MAX_PAGES) return null;
      pages.push(new Uint8Array(PAGE_LENGTH));
      used = 0;
    }
    const page = pages.at(-1) as Uint8Array;
    const offset = (pages.length - 1) * PAGE_LENGTH + used;
    page[used] = bytes.length;
    page.set(bytes, used + RECORD_HEADER);
    used += RECORD_HEADER + bytes.length;
    return offset;
  }

  return {
    size: () => names,
    place(bytes) {
      const hash = hashOf(bytes, bytes.length);
      const tag = tagOf(hash);
      let place = firstPlace(hash, places.length);
      for (let value = places[place]; value !== 0; value = places[place]) {
        if (tags[place] === tag && isKeyAt(seek((value as number) - 1), bytes, bytes.length)) return { record, isNew: false };
        place = place + 1 === places.length ? 0 : place + 1;
      }
      const offset = append(bytes);
      if (offset === null) return null;
      places[place] = offset + 1;
      tags[place] = tag;
      names += 1;
      if (names > places.length * MAX_LOAD) resize(Math.ceil(places.length * 1.5));
      return { record: seek(offset), isNew: true };
    },
    pack() {
      const wanted = Math.ceil(Math.max(names, 1) / MAX_LOAD);
      if (wanted < places.length) resize(wanted + 1);
      return { places, tags, pages: pages.map((page, index) => (index === pages.length - 1 ? page.subarray(0, used) : page)) };
    },
  };
}

/** Whether a record's key is the given one. */
function isKeyAt({ page, at }: RecordPlace, key: Uint8Array, length: number): boolean {
  if (page[at] !== length) return false;
  const start = at + RECORD_HEADER;
  for (let index = 0; index < length; index += 1) if (page[start + index] !== key[index]) return false;
  return true;
}
