import { createRequire } from "node:module";
import { FingerprintsError } from "./errors.ts";
import { type FlatJsonEntry, readFlatJson } from "./flat-json.ts";
import individualAddressBlocks from "./individual-address-blocks.json" with { type: "json" };
import { cleanVendorName } from "./vendor-name.ts";

/** A prefix of 36 bits and the number of its entry, below 2^17, share one number that is still exact: 53 bits. */
const MAX_ENTRIES = 2 ** 17;

/** Of 2.1.9 there are 53,730; far fewer mean that another file was read. */
const MIN_ENTRIES = 30_000;

/** The registry's names are 1.3 MB in all. */
const MAX_NAME_BYTES = 8 * 1024 * 1024;

const MAX_PREFIX_LENGTH = 9;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;

/** The IEEE's assignments, as numbers and one piece of text. */
export interface VendorRegistry {
  /**
   * @param prefix Value of the first `digits` hexadecimal digits of a MAC address; `digits` is 6, 7 or 9.
   * @returns The name of who was given exactly this prefix; empty where the registry does not say who; null where nobody was.
   */
  find(prefix: number, digits: number): string | null;
}

/**
 * Loads the registry that comes with `oui-data`, and the individual address blocks, which that package leaves out: 36 bits each of the
 * prefixes 00-50-C2 and 40-D8-55. The IEEE closed that registry in 2014, so that a copy of it does not age.
 * @throws FingerprintsError `data-unreadable`.
 */
export function loadVendorRegistry(): VendorRegistry {
  const require = createRequire(import.meta.url);
  const builder = createBuilder();
  let whole: boolean;
  try {
    whole = readFlatJson(require.resolve("oui-data"), builder.add);
  } catch (cause) {
    throw new FingerprintsError("data-unreadable", "cannot read the package oui-data; install it again", { cause });
  }
  if (!whole || builder.count() < MIN_ENTRIES) {
    throw new FingerprintsError("data-unreadable", `the package oui-data holds only ${builder.count()} prefixes; install it again`);
  }
  for (const [prefix, name] of Object.entries(individualAddressBlocks)) builder.add(entryOf(prefix, name));
  return builder.finish();
}

/** As if it had been read from a file. */
function entryOf(prefix: string, name: string): FlatJsonEntry {
  const bytes = Buffer.from(prefix + JSON.stringify(name).slice(1, -1));
  return { bytes, keyStart: 0, keyEnd: prefix.length, valueStart: prefix.length, valueEnd: bytes.length };
}

function createBuilder() {
  // Pages of memory that are never written to cost nothing; `finish` keeps what was used.
  const table = new Float64Array(MAX_ENTRIES);
  const prefixDigits = new Uint8Array(MAX_ENTRIES);
  const nameEnds = new Uint32Array(MAX_ENTRIES);
  const names = Buffer.allocUnsafeSlow(MAX_NAME_BYTES);
  let count = 0;
  let length = 0;
  return {
    count: () => count,
    add: (entry: FlatJsonEntry) => {
      const digits = entry.keyEnd - entry.keyStart;
      const prefix = parseHexadecimal(entry);
      if ((digits !== 6 && digits !== 7 && digits !== 9) || prefix === -1 || count === MAX_ENTRIES) return;
      table[count] = toKey(prefix, digits) + count;
      prefixDigits[count] = digits;
      length = cleanVendorName(names, length, length + copyFirstLine(entry, names, length));
      nameEnds[count] = length;
      count += 1;
    },
    finish: () =>
      createRegistry({
        table: table.slice(0, count).sort(),
        prefixDigits: prefixDigits.slice(0, count),
        nameEnds: nameEnds.slice(0, count),
        names: Buffer.from(Uint8Array.prototype.slice.call(names, 0, length).buffer),
      }),
  };
}

function createRegistry(data: {
  /** Sorted: prefix, filled up to nine digits, and entry. */
  readonly table: Float64Array;
  /** By entry. */
  readonly prefixDigits: Uint8Array;
  /** Where the entry's name ends in `names`; it begins where the one before ends. */
  readonly nameEnds: Uint32Array;
  readonly names: Buffer;
}): VendorRegistry {
  const { table, prefixDigits, nameEnds, names } = data;
  return {
    find(prefix, digits) {
      const key = toKey(prefix, digits);
      // Up to three prefixes, one of each length, are the same when filled up.
      for (let at = lowerBound(table, key); at < table.length; at += 1) {
        const entry = (table[at] ?? 0) - key;
        if (entry >= MAX_ENTRIES) return null;
        if (prefixDigits[entry] === digits) return names.toString("utf8", entry === 0 ? 0 : nameEnds[entry - 1], nameEnds[entry]);
      }
      return null;
    },
  };
}

function toKey(prefix: number, digits: number): number {
  return prefix * 16 ** (MAX_PREFIX_LENGTH - digits) * MAX_ENTRIES;
}

/** @returns Index of the first number that is not less. */
function lowerBound(table: Float64Array, wanted: number): number {
  let low = 0;
  let high = table.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((table[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @returns -1 where the key holds anything but hexadecimal digits. */
function parseHexadecimal({ bytes, keyStart, keyEnd }: FlatJsonEntry): number {
  let value = 0;
  for (let at = keyStart; at < keyEnd; at += 1) {
    const byte = bytes[at] ?? 0;
    const letter = byte | 0x20;
    if (byte >= 0x30 && byte <= 0x39) value = value * 16 + byte - 0x30;
    else if (letter >= 0x61 && letter <= 0x66) value = value * 16 + letter - 0x61 + 10;
    else return -1;
  }
  return value;
}

/** Values are postal addresses of several lines; the first is the name. @returns How many bytes were written. */
function copyFirstLine({ bytes, valueStart, valueEnd }: FlatJsonEntry, target: Buffer, at: number): number {
  const escape = bytes.indexOf(BACKSLASH, valueStart);
  const plain = escape === -1 || escape >= valueEnd;
  // Another escape than a line's end is rare enough to let JSON.parse have it.
  if (!plain && bytes[escape + 1] !== LETTER_N) {
    const text: unknown = JSON.parse(`"${bytes.toString("utf8", valueStart, valueEnd)}"`);
    return target.write(String(text).split("\n")[0]?.trim() ?? "", at, "utf8");
  }
  let start = valueStart;
  let end = plain ? valueEnd : escape;
  while (start < end && bytes[start] === SPACE) start += 1;
  while (end > start && bytes[end - 1] === SPACE) end -= 1;
  return bytes.copy(target, at, start, end);
}
