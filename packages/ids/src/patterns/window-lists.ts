/** Patterns filed under windows of their bytes, so that those that may end at a place are found by one look there. */
import { createWindowChooser, folded, foldedAt, type WindowChooser } from "./window-choice.ts";

/** What is filed: its bytes, and where they may be. */
export interface FiledPattern {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly depth: number;
}

/** One window of one pattern. */
export interface WindowEntry {
  readonly window: number;
  readonly pattern: number;
  /** Where in the pattern the window begins. */
  readonly offset: number;
}

/** Lists of patterns by the hash of their windows: each from `starts[hash]` to before `starts[hash + 1]`. */
export interface WindowLists {
  /** Bits of a hash that are left away. */
  readonly shift: number;
  readonly starts: Uint32Array;
  readonly windows: Int32Array;
  readonly patterns: Uint32Array;
  readonly offsets: Uint32Array;
}

/** By which windows the patterns of a set are found. */
export interface WindowFiling {
  /** Of four bytes, at places that four divides. */
  readonly words: readonly WindowEntry[];
  /** Of two bytes at even places. */
  readonly evenPairs: readonly WindowEntry[];
  /** Of two bytes anywhere. */
  readonly anyPairs: readonly WindowEntry[];
}

/** Knuth's: 2³² divided by the golden ratio. */
export const MULTIPLIER = 0x9e3779b1;

const WORD = 4;
const PAIR = 2;
/** Patterns that are filed in one step. */
const PATTERNS_A_STEP = 200;

/** Files each pattern under as few windows as find it wherever it may begin: words where it is long enough, else pairs. */
export function* fileByWindows(patterns: readonly FiledPattern[]): Generator<undefined, WindowFiling> {
  const [words, pairs] = [createWindowChooser(WORD), createWindowChooser(PAIR)];
  const filing = { words: [] as WindowEntry[], evenPairs: [] as WindowEntry[], anyPairs: [] as WindowEntry[] };
  // Those with the fewest windows to choose from choose first.
  const order = patterns.map((_, index) => index).toSorted((one, other) => lengthOf(patterns, one) - lengthOf(patterns, other));
  for (const [index, pattern] of order.entries()) {
    const one = patterns[pattern];
    if (one && one.bytes.length > 0) fileOne(one, pattern, { words, pairs, filing });
    if (index % PATTERNS_A_STEP === PATTERNS_A_STEP - 1) yield;
  }
  return filing;
}

function lengthOf(patterns: readonly FiledPattern[], index: number): number {
  return patterns[index]?.bytes.length ?? 0;
}

interface Filer {
  readonly words: WindowChooser;
  readonly pairs: WindowChooser;
  readonly filing: { readonly words: WindowEntry[]; readonly evenPairs: WindowEntry[]; readonly anyPairs: WindowEntry[] };
}

function fileOne(one: FiledPattern, pattern: number, { words, pairs, filing }: Filer): void {
  const entryAt = (length: 2 | 4) => (offset: number): WindowEntry => ({ window: foldedAt(one.bytes, offset, length), pattern, offset });
  const ofWords = placesOf(one, WORD, words);
  if (ofWords !== null) filing.words.push(...ofWords.map(entryAt(WORD)));
  else {
    const ofPairs = placesOf(one, PAIR, pairs);
    if (ofPairs !== null) filing.evenPairs.push(...ofPairs.map(entryAt(PAIR)));
    else if (one.bytes.length >= PAIR) filing.anyPairs.push(entryAt(PAIR)(pairs.choose(one.bytes, 0, 1)));
    else filing.anyPairs.push(...allPairsFrom(one.bytes[0] ?? 0).map((window) => ({ window, pattern, offset: 0 })));
  }
}

/** @returns A place for each remainder of where the pattern may begin, so that one lies on a multiple of the length; `null` where it is too short. */
function placesOf({ bytes, offset, depth }: FiledPattern, length: 2 | 4, chooser: WindowChooser): readonly number[] | null {
  const last = Math.min(depth - bytes.length, offset + length - 1);
  for (let begin = offset; begin <= last; begin += 1) if (firstOf(begin, length) + length > bytes.length) return null;
  const places: number[] = [];
  for (let begin = offset; begin <= last; begin += 1) places.push(chooser.choose(bytes, firstOf(begin, length), length));
  return places;
}

function firstOf(begin: number, length: number): number {
  return (length - (begin % length)) % length;
}

/** The byte and any other behind it. */
function allPairsFrom(byte: number): readonly number[] {
  return Array.from({ length: 256 }, (_, second) => (folded(second) << 8) | folded(byte)).filter((window, index, all) => all.indexOf(window) === index);
}

/** @param hashBits How many lists: two to the power of this. */
export function listWindows(entries: readonly WindowEntry[], hashBits: number): WindowLists {
  const shift = 32 - hashBits;
  const hashOf = ({ window }: WindowEntry) => Math.imul(window, MULTIPLIER) >>> shift;
  const starts = new Uint32Array(entries.length === 0 ? 1 : 2 ** hashBits + 1);
  const sorted = entries.toSorted((one, other) => hashOf(one) - hashOf(other));
  for (const entry of sorted) starts[hashOf(entry) + 1] = (starts[hashOf(entry) + 1] ?? 0) + 1;
  for (let list = 1; list < starts.length; list += 1) starts[list] = (starts[list] ?? 0) + (starts[list - 1] ?? 0);
  return {
    shift, starts, windows: Int32Array.from(sorted, ({ window }) => window), patterns: Uint32Array.from(sorted, ({ pattern }) => pattern),
    offsets: Uint32Array.from(sorted, ({ offset }) => offset),
  };
}

/** @returns A byte for each hash of so many bits: 1 where something is filed under it. */
export function mapOfHashes(entries: readonly WindowEntry[], hashBits: number): Uint8Array {
  const map = new Uint8Array(2 ** hashBits);
  for (const { window } of entries) map[Math.imul(window, MULTIPLIER) >>> (32 - hashBits)] = 1;
  return map;
}

/** @returns A bit for each two bytes: set where something is filed under them. */
export function mapOfPairs(entries: readonly WindowEntry[]): Uint32Array {
  const map = new Uint32Array(2 ** 16 / 32);
  for (const { window } of entries) map[window >>> 5] = (map[window >>> 5] ?? 0) | (1 << (window & 31));
  return map;
}
