/** Ranges of addresses by country, packed: 18 bytes each, found by halving. */
import { type CountryRange, numberOf } from "./range.ts";

/** Which country an address is registered in. */
export interface CountryTable {
  /** @param bytes Of an address: four or sixteen. @returns Two letters; "" where it is not known. */
  readonly countryOf: (bytes: Uint8Array) => string;
  readonly ranges: number;
  /** As `openCountryTable` reads it: equal tables have equal bytes. */
  readonly bytes: Uint8Array;
}

/** What a table's file is called where it is handed on. */
export const TABLE_FILE = "countries.bin";

/** "LNC1" */
const MAGIC = 0x31434e4c;
const HEADER_BYTES = 16;
const RANGE_BYTES = 18;
/** All five registries have some 400,000. */
const MAX_RANGES = 2_000_000;
const MAX_NUMBERS = { 4: 2 ** 32, 6: 2 ** 48 } as const;

/** Of one family, in their order; none lies over another. */
interface Ranges {
  readonly firsts: Float64Array;
  readonly lasts: Float64Array;
  readonly countries: Uint16Array;
}

/**
 * Sorts ranges, joins those that follow each other, and cuts those that lie over another: what two registries have, the one keeps that begins
 * first. Takes a second for 400,000: not for an event loop that others wait for.
 * @returns Null for more than two million.
 */
export function createCountryTable(ranges: readonly CountryRange[]): CountryTable | null {
  if (ranges.length > MAX_RANGES) return null;
  return tableOf(pack(ranges.filter(({ family }) => family === 4)), pack(ranges.filter(({ family }) => family === 6)));
}

/** @param bytes Of a table; not copied. @returns Null where they are none, or were damaged. */
export function openCountryTable(bytes: Uint8Array): CountryTable | null {
  if (bytes.length < HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [magic, of4, of6] = [0, 4, 8].map((offset) => view.getUint32(offset, true));
  if (magic !== MAGIC || of4 === undefined || of6 === undefined || of4 + of6 > MAX_RANGES || bytes.length !== HEADER_BYTES + RANGE_BYTES * (of4 + of6)) return null;
  const ranges4 = readRanges(view, HEADER_BYTES, of4, MAX_NUMBERS[4]);
  const ranges6 = readRanges(view, HEADER_BYTES + RANGE_BYTES * of4, of6, MAX_NUMBERS[6]);
  return ranges4 && ranges6 && tableOf(ranges4, ranges6, bytes);
}

function tableOf(of4: Ranges, of6: Ranges, bytes: Uint8Array | null = null): CountryTable {
  return {
    ranges: of4.firsts.length + of6.firsts.length,
    bytes: bytes ?? write(of4, of6),
    countryOf(address) {
      const at = numberOf(address);
      return at ? find(at.family === 4 ? of4 : of6, at.number) : "";
    },
  };
}

function find({ firsts, lasts, countries }: Ranges, number: number): string {
  let [low, high] = [0, firsts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((firsts[middle] ?? 0) <= number) low = middle + 1;
    else high = middle;
  }
  return low > 0 && number <= (lasts[low - 1] ?? -1) ? lettersOf(countries[low - 1] ?? 0) : "";
}

function pack(ranges: readonly CountryRange[]): Ranges {
  const sorted = ranges.toSorted((one, other) => one.first - other.first || one.last - other.last || (one.country < other.country ? -1 : 1));
  const kept: { first: number; last: number; readonly country: string }[] = [];
  for (const { first: begin, last, country } of sorted) {
    const before = kept.at(-1);
    const first = before ? Math.max(begin, before.last + 1) : begin;
    if (first > last) continue;
    if (before?.country === country && before.last + 1 === first) before.last = last;
    else kept.push({ first, last, country });
  }
  return {
    firsts: Float64Array.from(kept, ({ first }) => first), lasts: Float64Array.from(kept, ({ last }) => last),
    countries: Uint16Array.from(kept, ({ country }) => country.charCodeAt(0) * 256 + country.charCodeAt(1)),
  };
}

function write(of4: Ranges, of6: Ranges): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + RANGE_BYTES * (of4.firsts.length + of6.firsts.length));
  const view = new DataView(bytes.buffer);
  [MAGIC, of4.firsts.length, of6.firsts.length].forEach((value, index) => view.setUint32(index * 4, value, true));
  let offset = HEADER_BYTES;
  for (const { firsts, lasts, countries } of [of4, of6]) {
    for (const [index, first] of firsts.entries()) {
      view.setFloat64(offset, first, true);
      view.setFloat64(offset + 8, lasts[index] ?? 0, true);
      view.setUint16(offset + 16, countries[index] ?? 0, true);
      offset += RANGE_BYTES;
    }
  }
  return bytes;
}

/** @returns Null where a range is none, or they are not in order. */
function readRanges(view: DataView, from: number, count: number, below: number): Ranges | null {
  const made: Ranges = { firsts: new Float64Array(count), lasts: new Float64Array(count), countries: new Uint16Array(count) };
  let before = -1;
  for (let index = 0; index < count; index += 1) {
    const offset = from + RANGE_BYTES * index;
    const [first, last, country] = [view.getFloat64(offset, true), view.getFloat64(offset + 8, true), view.getUint16(offset + 16, true)];
    if (!Number.isInteger(first) || !Number.isInteger(last) || first <= before || last < first || last >= below || !/^[A-Z]{2}$/.test(lettersOf(country))) return null;
    made.firsts[index] = first;
    made.lasts[index] = last;
    made.countries[index] = country;
    before = last;
  }
  return made;
}

function lettersOf(country: number): string {
  return String.fromCharCode(country >>> 8, country & 255);
}
