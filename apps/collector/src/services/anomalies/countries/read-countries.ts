import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { type CountryRange, createCountryTable, createDelegatedReader, type DelegatedSummary } from "@lanthorn/anomaly";
import { FileRefused } from "../../../sources/file-refused.ts";

/** Files of registries, each by its path. */
export interface CountriesOrder {
  readonly files: readonly { readonly name: string; readonly path: string; readonly packing: string }[];
}

/** A table of countries as probes get it, and what it was made of. */
export interface ReadCountries {
  readonly bytes: Uint8Array;
  readonly ranges: number;
  readonly registries: readonly DelegatedSummary[];
}

const PIECE_BYTES = 1024 * 1024;
/** As the table of feeds has it. */
const MAX_UNPACKED_BYTES = 200_000_000;

/**
 * Reads what registries have given to whom, and packs it. It takes seconds: it is work for a thread.
 * @throws FileRefused in words, where one of the files is not to be used: a table without a continent would call all of it new.
 */
export function readCountries({ files }: CountriesOrder): ReadCountries {
  const ranges: CountryRange[] = [];
  const registries: DelegatedSummary[] = [];
  for (const file of files) {
    const reader = createDelegatedReader();
    for (const text of piecesOf(file)) for (const range of reader.push(text)) ranges.push(range);
    const ended = reader.end();
    if ("problem" in ended) throw new FileRefused(`${file.name}: ${ended.problem}`);
    for (const range of ended.ranges) ranges.push(range);
    if (registries.some(({ registry }) => registry === ended.summary.registry)) throw new FileRefused(`${file.name}: there are two files of ${ended.summary.registry}`);
    registries.push(ended.summary);
  }
  const table = createCountryTable(ranges);
  if (!table) throw new FileRefused("it has more ranges of addresses than there are");
  return { bytes: table.bytes, ranges: table.ranges, registries };
}

/** The format is ASCII: each byte is a character. */
function* piecesOf({ name, path, packing }: CountriesOrder["files"][number]): Generator<string> {
  if (packing === "gzip") {
    yield gunzipSync(readFileSync(path), { maxOutputLength: MAX_UNPACKED_BYTES }).toString("latin1");
    return;
  }
  if (packing !== "none") throw new FileRefused(`${name}: it is packed as ${packing}; only gzip is read`);
  const file = openSync(path, "r");
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let length = readSync(file, piece); length > 0; length = readSync(file, piece)) yield piece.toString("latin1", 0, length);
  } finally {
    closeSync(file);
  }
}
