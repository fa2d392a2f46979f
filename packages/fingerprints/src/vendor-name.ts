/** Names of the registry that are not the maker's: who hands out parts of a prefix, and who did not want to be named. */
const NO_MAKERS = ["IEEE Registration Authority", "Private"] as const;
const NO_MAKER_LENGTHS: ReadonlySet<number> = new Set(NO_MAKERS.map((name) => name.length));

const AMPERSAND = 0x26;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const ENTITY = /&(?:#(\d{1,7})|(amp|lt|gt|quot|apos));/g;

/**
 * Makes the registry's spelling a maker's name, in place: the registry comes from web pages and has `R&amp;M AG`.
 * @param names UTF-8; the name stands from `start` to `end`.
 * @returns Where the name now ends; `start` where it names no maker.
 */
export function cleanVendorName(names: Buffer, start: number, end: number): number {
  const ampersand = names.subarray(start, end).indexOf(AMPERSAND);
  if (ampersand !== -1) {
    const name = names.toString("utf8", start, end);
    const plain = decodeEntities(name);
    // A character is never longer than its entity: nothing behind `end` is touched.
    if (plain !== name) return start + names.write(plain, start, "utf8");
  }
  if (!NO_MAKER_LENGTHS.has(end - start)) return end;
  const name = names.toString("latin1", start, end);
  return NO_MAKERS.some((noMaker) => noMaker === name) ? start : end;
}

/** Once, as HTML does: `&amp;lt;` stands for `&lt;`. */
function decodeEntities(text: string): string {
  return text.replaceAll(ENTITY, (entity: string, code: string | undefined, name: string | undefined) => {
    if (name !== undefined) return ENTITIES[name] ?? entity;
    const point = Number(code);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : entity;
  });
}
