/**
 * Finds which of many patterns are in a buffer, in one pass over it.
 *
 * Each pattern is filed under a window of four of its bytes in lower case. At each byte the window that ends there is hashed and looked up
 * in a bitmap; where its bit is set, the patterns filed under it are compared. Patterns of one to three bytes are found by the last two.
 */
import { createWindowChooser, lowerCase, WINDOW_BYTES, windowAt } from "./window-choice.ts";

/** What is searched for, and where it may be. */
export interface Pattern {
  /** At least one. */
  readonly bytes: Uint8Array;
  /** ASCII letters of either case are the same. */
  readonly ignoreCase: boolean;
  /** Begins here or later. */
  readonly offset: number;
  /** Ends here or earlier; `Infinity` for anywhere. */
  readonly depth: number;
  /** Ends where the buffer ends. */
  readonly endsWith: boolean;
}

/** Many patterns, ready to be searched for. */
export interface PatternSet {
  /**
   * Finds patterns, each once, in no order.
   * @returns How many; their places in the list of patterns are the first of `found`, until the next call.
   */
  find(buffer: Uint8Array): number;
  readonly found: Uint32Array;
  /** Bytes of memory of its tables. */
  readonly size: number;
  /** The most patterns in one list: what the worst buffer costs at each byte. */
  readonly longestList: number;
}

/** So many bits of the bitmap for each pattern: one in 32 places stops for nothing. */
const BITS_PER_PATTERN = 32;
const MIN_HASH_BITS = 8;
/** 32 KiB of bitmap, which stays in the processor's first cache. */
const MAX_HASH_BITS = 18;
/** So many fewer bits than the bitmap's name a list of patterns, as the lists' beginnings take 32 bits each. */
const STARTS_SHIFT = 4;
const PAIR_BITS = 16;
/** Knuth's: 2³² divided by the golden ratio. */
const MULTIPLIER = 0x9e3779b1;

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => lowerCase(byte));

interface Tables {
  /** All patterns' bytes; those that ignore case in lower case. */
  readonly bytes: Uint8Array;
  /** Where each pattern begins in `bytes`, and the end behind the last. */
  readonly starts: Uint32Array;
  readonly ignoreCase: Uint8Array;
  readonly offsets: Uint32Array;
  readonly depths: Uint32Array;
  readonly endsWith: Uint8Array;
}

/** Lists of patterns: each from `starts[list]` to before `starts[list + 1]`. */
interface Filed {
  readonly starts: Uint32Array;
  readonly patterns: Uint32Array;
  /** The window itself, and how many bytes of its pattern are behind it and before its end, with it. */
  readonly windows: Int32Array;
  readonly ends: Uint32Array;
}

/** @param patterns Their places in this list name them. Equal ones are found each. */
export function createPatternSet(patterns: readonly Pattern[]): PatternSet {
  const steps = createPatternSetSteps(patterns);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same in small steps: what it returns at its end is the set. */
export function* createPatternSetSteps(patterns: readonly Pattern[]): Generator<undefined, PatternSet> {
  const tables = tablesOf(patterns);
  yield;
  const hashBits = hashBitsFor(patterns);
  const [longEntries, shortEntries] = [yield* fileLong(patterns, 32 - hashBits), fileShort(patterns)];
  yield;
  const [long, short] = [file(longEntries, STARTS_SHIFT, hashBits), file(shortEntries, 0, PAIR_BITS)];
  const [bitmap, pairs] = [bitmapOf(longEntries, hashBits), bitmapOf(shortEntries, PAIR_BITS)];
  const found = new Uint32Array(patterns.length);
  const seen = new Uint8Array(patterns.length);
  const arrays = [...Object.values(tables), ...Object.values(long), ...Object.values(short), bitmap, pairs, found, seen] as readonly ArrayBufferView[];
  const search: Search = { tables, long, short, bitmap, pairs, shift: 32 - hashBits, found, seen, count: 0 };
  return {
    find: (buffer) => {
      search.count = 0;
      if (short.patterns.length > 0) findAll(search, buffer);
      else findLong(search, buffer);
      for (let index = 0; index < search.count; index += 1) seen[found[index] ?? 0] = 0;
      return search.count;
    },
    found,
    size: arrays.reduce((sum, { byteLength }) => sum + byteLength, 0),
    longestList: [long, short].reduce((most, { starts }) => {
      for (let list = 1; list < starts.length; list += 1) most = Math.max(most, (starts[list] ?? 0) - (starts[list - 1] ?? 0));
      return most;
    }, 0),
  };
}

interface Search {
  readonly tables: Tables;
  readonly long: Filed;
  readonly short: Filed;
  /** A bit for each hash of a window that something is filed under. */
  readonly bitmap: Uint32Array;
  /** A bit for each two bytes that something short ends with. */
  readonly pairs: Uint32Array;
  readonly shift: number;
  readonly found: Uint32Array;
  readonly seen: Uint8Array;
  count: number;
}

function findAll(search: Search, buffer: Uint8Array): void {
  const { bitmap, pairs, shift } = search;
  let window = 0;
  for (let at = 0; at < buffer.length; at += 1) {
    window = (window << 8) | (LOWER[buffer[at] as number] as number);
    const hash = Math.imul(window, MULTIPLIER) >>> shift;
    if (((bitmap[hash >>> 5] as number) & (1 << (hash & 31))) !== 0) compareFiled(search, search.long, hash >>> STARTS_SHIFT, window, buffer, at);
    const pair = window & 0xffff;
    if (((pairs[pair >>> 5] as number) & (1 << (pair & 31))) !== 0) compareFiled(search, search.short, pair, pair, buffer, at);
  }
}

/** A third faster, for sets without short patterns. */
function findLong(search: Search, buffer: Uint8Array): void {
  const { bitmap, shift } = search;
  let window = 0;
  for (let at = 0; at < buffer.length; at += 1) {
    window = (window << 8) | (LOWER[buffer[at] as number] as number);
    const hash = Math.imul(window, MULTIPLIER) >>> shift;
    if (((bitmap[hash >>> 5] as number) & (1 << (hash & 31))) !== 0) compareFiled(search, search.long, hash >>> STARTS_SHIFT, window, buffer, at);
  }
}

/** Compares those of a list whose window ends at a byte of the buffer. */
function compareFiled(search: Search, filed: Filed, list: number, window: number, buffer: Uint8Array, at: number): void {
  const { tables, seen } = search;
  const end = filed.starts[list + 1] ?? 0;
  for (let entry = filed.starts[list] ?? 0; entry < end; entry += 1) {
    if (filed.windows[entry] !== window) continue;
    const pattern = filed.patterns[entry] ?? 0;
    if (seen[pattern] === 1 || !isAt(tables, pattern, buffer, at + 1 - (filed.ends[entry] ?? 0))) continue;
    seen[pattern] = 1;
    search.found[search.count] = pattern;
    search.count += 1;
  }
}

function isAt(tables: Tables, pattern: number, buffer: Uint8Array, begin: number): boolean {
  const from = tables.starts[pattern] ?? 0;
  const length = (tables.starts[pattern + 1] ?? 0) - from;
  const end = begin + length;
  if (begin < (tables.offsets[pattern] ?? 0) || end > buffer.length || end > (tables.depths[pattern] ?? 0)) return false;
  if (tables.endsWith[pattern] === 1 && end !== buffer.length) return false;
  const { bytes } = tables;
  if (tables.ignoreCase[pattern] === 1) {
    for (let index = 0; index < length; index += 1) if (bytes[from + index] !== LOWER[buffer[begin + index] ?? 0]) return false;
  } else {
    for (let index = 0; index < length; index += 1) if (bytes[from + index] !== buffer[begin + index]) return false;
  }
  return true;
}

function tablesOf(patterns: readonly Pattern[]): Tables {
  const starts = new Uint32Array(patterns.length + 1);
  patterns.forEach(({ bytes }, index) => { starts[index + 1] = (starts[index] ?? 0) + bytes.length; });
  const all = new Uint8Array(starts[patterns.length] ?? 0);
  patterns.forEach(({ bytes, ignoreCase }, index) => all.set(ignoreCase ? bytes.map(lowerCase) : bytes, starts[index]));
  return {
    bytes: all,
    starts,
    ignoreCase: Uint8Array.from(patterns, ({ ignoreCase }) => Number(ignoreCase)),
    offsets: Uint32Array.from(patterns, ({ offset }) => offset),
    depths: Uint32Array.from(patterns, ({ depth }) => Math.min(depth, 0xffffffff)),
    endsWith: Uint8Array.from(patterns, ({ endsWith }) => Number(endsWith)),
  };
}

interface Entry {
  readonly hash: number;
  readonly window: number;
  readonly pattern: number;
  readonly end: number;
}

function hashBitsFor(patterns: readonly Pattern[]): number {
  const count = patterns.filter(({ bytes }) => bytes.length >= WINDOW_BYTES).length;
  return Math.min(Math.max(Math.ceil(Math.log2(count * BITS_PER_PATTERN + 1)), MIN_HASH_BITS), MAX_HASH_BITS);
}

/** Patterns whose window is chosen in one step. */
const PATTERNS_A_STEP = 200;

function* fileLong(patterns: readonly Pattern[], shift: number): Generator<undefined, readonly Entry[]> {
  const chooser = createWindowChooser();
  // Those with the fewest windows to choose from choose first.
  const order = patterns.map((_, index) => index).toSorted((one, other) => lengthOf(patterns, one) - lengthOf(patterns, other));
  const entries: Entry[] = [];
  for (const pattern of order) {
    if (lengthOf(patterns, pattern) < WINDOW_BYTES) continue;
    const bytes = patterns[pattern]?.bytes ?? new Uint8Array();
    const begin = chooser.choose(bytes);
    const window = windowAt(bytes, begin, WINDOW_BYTES);
    entries.push({ hash: Math.imul(window, MULTIPLIER) >>> shift, window, pattern, end: begin + WINDOW_BYTES });
    if (entries.length % PATTERNS_A_STEP === 0) yield;
  }
  return entries;
}

function lengthOf(patterns: readonly Pattern[], index: number): number {
  return patterns[index]?.bytes.length ?? 0;
}

/** Under their last two bytes; those of one byte under all pairs that end with it. */
function fileShort(patterns: readonly Pattern[]): readonly Entry[] {
  return patterns.flatMap(({ bytes }, pattern): readonly Entry[] => {
    if (bytes.length === 0 || bytes.length >= WINDOW_BYTES) return [];
    const end = bytes.length;
    if (end > 1) return [windowAt(bytes, end - 2, 2)].map((pair) => ({ hash: pair, window: pair, pattern, end }));
    return Array.from({ length: 256 }, (_, before) => (before << 8) | windowAt(bytes, 0, 1)).map((pair) => ({ hash: pair, window: pair, pattern, end }));
  });
}

function bitmapOf(entries: readonly Entry[], hashBits: number): Uint32Array {
  const bitmap = new Uint32Array(2 ** hashBits / 32);
  for (const { hash } of entries) bitmap[hash >>> 5] = (bitmap[hash >>> 5] ?? 0) | (1 << (hash & 31));
  return bitmap;
}

function file(entries: readonly Entry[], startsShift: number, hashBits: number): Filed {
  const lists = entries.length === 0 ? 0 : 2 ** (hashBits - startsShift);
  const starts = new Uint32Array(lists + 1);
  const sorted = entries.toSorted((one, other) => one.hash - other.hash);
  for (const { hash } of sorted) starts[(hash >>> startsShift) + 1] = (starts[(hash >>> startsShift) + 1] ?? 0) + 1;
  for (let list = 0; list < lists; list += 1) starts[list + 1] = (starts[list + 1] ?? 0) + (starts[list] ?? 0);
  return {
    starts,
    patterns: Uint32Array.from(sorted, ({ pattern }) => pattern),
    windows: Int32Array.from(sorted, ({ window }) => window),
    ends: Uint32Array.from(sorted, ({ end }) => end),
  };
}
