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

/** Of one family, as they lie in a table's bytes: in their order; none lies over another. */
interface Ranges {
  readonly from: number;
  readonly count: number;
}

/** Some 2 ms of a small machine. */
const CHECKED_AT_ONCE = 4096;

/**
 * Sorts ranges, joins those that follow each other, and cuts those that lie over another: what two registries have, the one keeps that begins
 * first. Takes a second for 400,000: not for an event loop that others wait for.
 * @returns Null for more than two million.
 */
export function createCountryTable(ranges: readonly CountryRange[]): CountryTable | null {
  if (ranges.length > MAX_RANGES) return null;
  return tableOf(write(pack(ranges.filter(({ family }) => family === 4)), pack(ranges.filter(({ family }) => family === 6))));
}

/**
 * Looks at each range once, some in each turn of the caller's event loop: a table may have 36 MB.
 * @param bytes Of a table; not copied, and not to be changed any more.
 * @param pause Awaited after each 4096 ranges.
 * @returns Null where they are none, or were damaged.
 */
export async function openCountryTable(bytes: Uint8Array, pause: () => Promise<void>): Promise<CountryTable | null> {
  if (bytes.length < HEADER_BYTES) return null;
  const view = viewOf(bytes);
  const [magic, of4, of6] = [0, 4, 8].map((offset) => view.getUint32(offset, true));
  if (magic !== MAGIC || of4 === undefined || of6 === undefined || of4 + of6 > MAX_RANGES || bytes.length !== HEADER_BYTES + RANGE_BYTES * (of4 + of6)) return null;
  const { ranges4, ranges6 } = rangesOf(view);
  return await areInOrder(view, ranges4, MAX_NUMBERS[4], pause) && await areInOrder(view, ranges6, MAX_NUMBERS[6], pause) ? tableOf(bytes) : null;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function rangesOf(view: DataView): { readonly ranges4: Ranges; readonly ranges6: Ranges } {
  const [of4, of6] = [view.getUint32(4, true), view.getUint32(8, true)];
  return { ranges4: { from: HEADER_BYTES, count: of4 }, ranges6: { from: HEADER_BYTES + RANGE_BYTES * of4, count: of6 } };
}

function tableOf(bytes: Uint8Array): CountryTable {
  const view = viewOf(bytes);
  const { ranges4, ranges6 } = rangesOf(view);
  return {
    ranges: ranges4.count + ranges6.count,
    bytes,
    countryOf(address) {
      const at = numberOf(address);
      return at ? find(view, at.family === 4 ? ranges4 : ranges6, at.number) : "";
    },
  };
}

function find(view: DataView, { from, count }: Ranges, number: number): string {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (view.getFloat64(from + RANGE_BYTES * middle, true) <= number) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return "";
  const { last, country } = rangeAt(view, from + RANGE_BYTES * (low - 1));
  return number <= last ? lettersOf(country) : "";
}

/** A range of which the family is known. */
type Packed = Pick<CountryRange, "first" | "last" | "country">;

function pack(ranges: readonly CountryRange[]): readonly Packed[] {
  const sorted = ranges.toSorted((one, other) => one.first - other.first || one.last - other.last || (one.country < other.country ? -1 : 1));
  const kept: { first: number; last: number; readonly country: string }[] = [];
  for (const { first: begin, last, country } of sorted) {
    const before = kept.at(-1);
    const first = before ? Math.max(begin, before.last + 1) : begin;
    if (first > last) continue;
    if (before?.country === country && before.last + 1 === first) before.last = last;
    else kept.push({ first, last, country });
  }
  return kept;
}

function write(of4: readonly Packed[], of6: readonly Packed[]): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + RANGE_BYTES * (of4.length + of6.length));
  const view = viewOf(bytes);
  [MAGIC, of4.length, of6.length].forEach((value, index) => view.setUint32(index * 4, value, true));
  let offset = HEADER_BYTES;
  for (const { first, last, country } of [...of4, ...of6]) {
    view.setFloat64(offset, first, true);
    view.setFloat64(offset + 8, last, true);
    view.setUint16(offset + 16, country.charCodeAt(0) * 256 + country.charCodeAt(1), true);
    offset += RANGE_BYTES;
  }
  return bytes;
}

function rangeAt(view: DataView, offset: number): { readonly first: number; readonly last: number; readonly country: number } {
  return { first: view.getFloat64(offset, true), last: view.getFloat64(offset + 8, true), country: view.getUint16(offset + 16, true) };
}

/** Whether each range is one, and they are in order. */
async function areInOrder(view: DataView, { from, count }: Ranges, below: number, pause: () => Promise<void>): Promise<boolean> {
  let before = -1;
  for (let index = 0; index < count; index += 1) {
    const { first, last, country } = rangeAt(view, from + RANGE_BYTES * index);
    if (!Number.isInteger(first) || !Number.isInteger(last) || first <= before || last < first || last >= below) return false;
    if (!isCapital(country >>> 8) || !isCapital(country & 255)) return false;
    before = last;
    if (index % CHECKED_AT_ONCE === CHECKED_AT_ONCE - 1) await pause();
  }
  return true;
}

function isCapital(letter: number): boolean {
  return letter >= 65 && letter <= 90;
}

function lettersOf(country: number): string {
  return String.fromCharCode(country >>> 8, country & 255);
}
