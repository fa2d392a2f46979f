import { closeSync, openSync, readSync } from "node:fs";

const CHUNK_BYTES = 64 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Where a key and its value stand in `bytes`, as JSON spells them and without their quotes. Holds for the length of one call. */
export interface FlatJsonEntry {
  readonly bytes: Buffer;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/**
 * Reads a file that holds one JSON object of texts, piece by piece and without making anything for each entry: neither the file nor the
 * object is ever in memory as a whole, and no garbage makes the heap grow.
 * @param onEntry Called for each entry in the file's order, always with the same object.
 * @returns Whether the texts come in pairs and the last one ends. What stands between them is not looked at.
 * @throws What the file system throws.
 */
export function readFlatJson(path: string, onEntry: (entry: FlatJsonEntry) => void): boolean {
  const file = openSync(path, "r");
  const entry = { bytes: Buffer.allocUnsafeSlow(2 * CHUNK_BYTES), keyStart: -1, keyEnd: -1, valueStart: -1, valueEnd: -1 };
  /** Bytes at the front of the buffer that belong to an entry which is not whole yet. */
  let held = 0;
  try {
    for (;;) {
      if (held + CHUNK_BYTES > entry.bytes.length) entry.bytes = Buffer.concat([entry.bytes], entry.bytes.length * 2);
      const length = readSync(file, entry.bytes, held, CHUNK_BYTES, null);
      if (length === 0) return held === 0;
      const end = held + length;
      const rest = readEntries(entry, end, onEntry);
      entry.bytes.copyWithin(0, rest, end);
      held = end - rest;
    }
  } finally {
    closeSync(file);
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** @returns Where the first text begins that has no whole entry before `end`; `end` where there is none. */
function readEntries(entry: Writable<FlatJsonEntry>, end: number, onEntry: (entry: FlatJsonEntry) => void): number {
  const bytes = entry.bytes;
  const find = (from: number) => {
    const at = bytes.indexOf(QUOTE, from);
    return at < end ? at : -1;
  };
  const findEnd = (from: number) => {
    let at = find(from);
    while (at !== -1 && isEscaped(bytes, at)) at = find(at + 1);
    return at;
  };
  let rest = 0;
  for (;;) {
    const key = find(rest);
    if (key === -1) return end;
    const keyEnd = findEnd(key + 1);
    const value = keyEnd === -1 ? -1 : find(keyEnd + 1);
    const valueEnd = value === -1 ? -1 : findEnd(value + 1);
    if (valueEnd === -1) return key;
    entry.keyStart = key + 1;
    entry.keyEnd = keyEnd;
    entry.valueStart = value + 1;
    entry.valueEnd = valueEnd;
    onEntry(entry);
    rest = valueEnd + 1;
  }
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let backslashes = 0;
  while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
