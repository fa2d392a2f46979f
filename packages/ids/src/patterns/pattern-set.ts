/**
 * Finds which of many patterns are in a buffer, in one pass over it.
 *
 * The buffer is read in words of four bytes at places that four divides. A pattern of seven bytes or more holds such a word wherever it
 * begins, so it is filed under four of its own: one for each remainder of its beginning. A word that nothing is filed under, as nearly all are, costs
 * one look into a map. Shorter patterns are filed the same way under pairs at even places, or, of one and two bytes, anywhere.
 * Numbers of several bytes have the lowest byte first, as the processors that Node runs on.
 */
import { lowerCase } from "./window-choice.ts";
import { fileByWindows, listWindows, mapOfHashes, mapOfPairs, MULTIPLIER, type WindowLists } from "./window-lists.ts";

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

/** So many places of the map for each window: few words stop for nothing. */
const PLACES_PER_WINDOW = 16;
const MIN_MAP_BITS = 8;
/** 64 KiB of map. */
const MAX_MAP_BITS = 16;
/** So many windows share a list. */
const LIST_BITS_LESS = 4;
const MAX_PAIR_LIST_BITS = 10;

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
  const { words, evenPairs, anyPairs } = yield* fileByWindows(patterns);
  yield;
  const mapBits = Math.min(Math.max(Math.ceil(Math.log2(words.length * PLACES_PER_WINDOW + 1)), MIN_MAP_BITS), MAX_MAP_BITS);
  const pairs = [...evenPairs, ...anyPairs];
  const search: Search = {
    tables, found: new Uint32Array(patterns.length), seen: new Uint8Array(patterns.length), count: 0, length: 0,
    wordMap: mapOfHashes(words, mapBits), wordShift: 32 - mapBits, words: listWindows(words, mapBits - LIST_BITS_LESS),
    evenPairMap: mapOfPairs(pairs), anyPairMap: mapOfPairs(anyPairs), pairs: listWindows(pairs, Math.min(MAX_PAIR_LIST_BITS, Math.ceil(Math.log2(pairs.length + 2)))),
  };
  const { found, seen } = search;
  const [hasPairs, hasAnyPairs] = [pairs.length > 0, anyPairs.length > 0];
  const arrays = [...Object.values(tables), ...Object.values(search.words), ...Object.values(search.pairs), ...Object.values(search)].filter((one) => ArrayBuffer.isView(one));
  return {
    find: (buffer) => {
      search.count = 0;
      fillScratch(buffer);
      search.length = buffer.length;
      if (hasAnyPairs) findAllPairs(search);
      else if (hasPairs) findWordsAndPairs(search);
      else findWords(search);
      for (let index = 0; index < search.count; index += 1) seen[found[index] as number] = 0;
      return search.count;
    },
    found,
    size: arrays.reduce((sum, { byteLength }) => sum + byteLength, 0),
    longestList: [search.words, search.pairs].reduce((most, { starts }) => {
      for (let list = 1; list < starts.length; list += 1) most = Math.max(most, (starts[list] ?? 0) - (starts[list - 1] ?? 0));
      return most;
    }, 0),
  };
}

interface Search {
  readonly tables: Tables;
  readonly found: Uint32Array;
  readonly seen: Uint8Array;
  count: number;
  /** Bytes of the buffer. */
  length: number;
  readonly wordMap: Uint8Array;
  readonly wordShift: number;
  readonly words: WindowLists;
  readonly evenPairMap: Uint32Array;
  readonly anyPairMap: Uint32Array;
  readonly pairs: WindowLists;
}

/** The buffer that is searched, where four bytes can be read at once; zeros behind it. One for all sets: a search is over before the next begins. */
let scratch = new Uint8Array(65_536);
let scratchWords = new Int32Array(scratch.buffer);
const PADDING = 8;
/** Shorter ones are copied by a loop: no call out of JavaScript. */
const MIN_NATIVE_BYTES = 48;

function fillScratch(buffer: Uint8Array): void {
  const { length } = buffer;
  if (length + PADDING > scratch.length) {
    scratch = new Uint8Array(Math.ceil((length + PADDING) / 65_536) * 65_536);
    scratchWords = new Int32Array(scratch.buffer);
  }
  if (length >= MIN_NATIVE_BYTES) scratch.set(buffer);
  else for (let at = 0; at < length; at += 1) scratch[at] = buffer[at] as number;
  for (let at = length; at < length + PADDING; at += 1) scratch[at] = 0;
}

/** Of bytes that may be letters the bit that tells their case is set: see `foldedAt`. */
const LETTERS = 0x40404040;

function findWords(search: Search): void {
  const { wordMap, wordShift, words } = search;
  const buffer = scratchWords;
  const count = search.length >>> 2;
  for (let index = 0; index < count; index += 1) {
    const bytes = buffer[index] as number;
    const word = bytes | ((bytes & LETTERS) >>> 1);
    if (wordMap[Math.imul(word, MULTIPLIER) >>> wordShift] !== 0) compareFiled(search, words, word, index * 4);
  }
}

/** The same, with both even pairs of each word. */
function findWordsAndPairs(search: Search): void {
  const { wordMap, wordShift, words, evenPairMap, pairs } = search;
  const buffer = scratchWords;
  const count = (search.length + 3) >>> 2;
  for (let index = 0; index < count; index += 1) {
    const bytes = buffer[index] as number;
    const word = bytes | ((bytes & LETTERS) >>> 1);
    const first = word & 0xffff;
    const second = word >>> 16;
    const isWord = wordMap[Math.imul(word, MULTIPLIER) >>> wordShift] as number;
    const isFirst = ((evenPairMap[first >>> 5] as number) >>> (first & 31)) & 1;
    const isSecond = ((evenPairMap[second >>> 5] as number) >>> (second & 31)) & 1;
    if ((isWord | isFirst | isSecond) === 0) continue;
    if (isWord !== 0) compareFiled(search, words, word, index * 4);
    if (isFirst !== 0) compareFiled(search, pairs, first, index * 4);
    if (isSecond !== 0) compareFiled(search, pairs, second, index * 4 + 2);
  }
}

/** The same, with the pairs at odd places too: the one that ends with the word's first byte, and the one in its middle. */
function findAllPairs(search: Search): void {
  const { wordMap, wordShift, words, evenPairMap, anyPairMap, pairs } = search;
  const buffer = scratchWords;
  const count = (search.length + 4) >>> 2;
  let before = 0;
  for (let index = 0; index < count; index += 1) {
    const bytes = buffer[index] as number;
    const word = bytes | ((bytes & LETTERS) >>> 1);
    const first = word & 0xffff;
    const middle = (word >>> 8) & 0xffff;
    const last = word >>> 16;
    const across = before | ((word & 0xff) << 8);
    before = word >>> 24;
    const isWord = wordMap[Math.imul(word, MULTIPLIER) >>> wordShift] as number;
    const isFirst = ((evenPairMap[first >>> 5] as number) >>> (first & 31)) & 1;
    const isLast = ((evenPairMap[last >>> 5] as number) >>> (last & 31)) & 1;
    const isMiddle = ((anyPairMap[middle >>> 5] as number) >>> (middle & 31)) & 1;
    const isAcross = ((anyPairMap[across >>> 5] as number) >>> (across & 31)) & 1;
    if ((isWord | isFirst | isLast | isMiddle | isAcross) === 0) continue;
    const at = index * 4;
    if (isAcross !== 0) compareFiled(search, pairs, across, at - 1);
    if (isWord !== 0) compareFiled(search, words, word, at);
    if (isFirst !== 0) compareFiled(search, pairs, first, at);
    if (isMiddle !== 0) compareFiled(search, pairs, middle, at + 1);
    if (isLast !== 0) compareFiled(search, pairs, last, at + 2);
  }
}

/** Compares those of a list that have a window at a place of the buffer. */
function compareFiled(search: Search, lists: WindowLists, window: number, at: number): void {
  const { tables, seen, length } = search;
  const { starts, windows, patterns, offsets } = lists;
  const list = Math.imul(window, MULTIPLIER) >>> lists.shift;
  const end = starts[list + 1] as number;
  for (let entry = starts[list] as number; entry < end; entry += 1) {
    if (windows[entry] !== window) continue;
    const pattern = patterns[entry] as number;
    if (seen[pattern] === 1 || !isAt(tables, pattern, at - (offsets[entry] as number), length)) continue;
    seen[pattern] = 1;
    search.found[search.count] = pattern;
    search.count += 1;
  }
}

function isAt(tables: Tables, pattern: number, begin: number, bufferLength: number): boolean {
  const buffer = scratch;
  const from = tables.starts[pattern] as number;
  const length = (tables.starts[pattern + 1] as number) - from;
  const end = begin + length;
  if (begin < (tables.offsets[pattern] as number) || end > bufferLength || end > (tables.depths[pattern] as number)) return false;
  if (tables.endsWith[pattern] === 1 && end !== bufferLength) return false;
  const { bytes } = tables;
  if (tables.ignoreCase[pattern] === 1) {
    for (let index = 0; index < length; index += 1) if (bytes[from + index] !== LOWER[buffer[begin + index] as number]) return false;
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
