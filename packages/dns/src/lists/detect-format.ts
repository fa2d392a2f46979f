import { LIST_PARSERS, type ListFormat } from "./list-reader.ts";

/** Lines of the sample that are tried. */
const MAX_LINES = 500;
/** A format must read this share of the lines that say something. */
const MIN_SHARE = 0.5;

/**
 * Finds the format of a list from its beginning: the one that reads most of its lines. Where several read as many, the one whose own signs the lines
 * bear goes first.
 * @param sample The first bytes, 64 KiB or so; a line that is cut at their end does no harm.
 * @returns Null for what no format reads: a page that says that the list has moved, for one.
 */
export function detectFormat(sample: Uint8Array): ListFormat | null {
  const lines = new TextDecoder().decode(sample).split("\n", MAX_LINES).map((line) => line.replace("\r", ""));
  const formats = Object.keys(LIST_PARSERS) as ListFormat[];
  const scored = formats.map((format) => ({ format, ...tryFormat(format, lines) })).filter(({ taken, refused }) => taken > 0 && taken / (taken + refused) >= MIN_SHARE);
  const best = scored.toSorted((a, b) => b.taken - b.refused - (a.taken - a.refused) || formats.indexOf(a.format) - formats.indexOf(b.format));
  const [first] = best;
  return first?.format === "adblock" ? plainerThanAdblock(lines, best.map(({ format }) => format)) : (first?.format ?? null);
}

function tryFormat(format: ListFormat, lines: readonly string[]): { readonly taken: number; readonly refused: number } {
  const parser = LIST_PARSERS[format]({ mayRewrite: true, origin: null });
  let [taken, refused] = [0, 0];
  for (const line of lines) {
    if (line.length > 1000) continue;
    let rules = 0;
    const reason = parser.line(line, () => { rules += 1; });
    if (reason !== null) refused += 1;
    else if (rules > 0) taken += 1;
  }
  return { taken, refused };
}

/** Adblock's parser reads hosts and names, too: without one of its own signs the list is of the plainer format. */
function plainerThanAdblock(lines: readonly string[], formats: readonly ListFormat[]): ListFormat {
  const hasSign = lines.some((line) => line.startsWith("|") || line.startsWith("@@") || line.startsWith("[Adblock") || line.includes("^"));
  return hasSign ? "adblock" : (formats.find((format) => format === "hosts" || format === "domains") ?? "adblock");
}
