/** Every keyword that rules may have, and what is known of those that cannot be run. */

import { APPLICATION_KEYWORDS } from "./applications.ts";
import { BUFFER_KEYWORDS } from "./buffers.ts";
import { BYTE_KEYWORDS } from "./bytes.ts";
import { content, CONTENT_MODIFIERS, uriContent } from "./contents.ts";
import { FLOW_KEYWORDS } from "./flows.ts";
import type { Keyword } from "./keyword.ts";
import { META_KEYWORDS } from "./meta.ts";
import { NUMBER_KEYWORDS } from "./numbers.ts";
import { PACKET_KEYWORDS } from "./packets.ts";
import { pcre } from "./pcre.ts";
import { TRANSFORM_KEYWORDS } from "./transforms.ts";

const NEEDS_FILE = "it needs a file beside the rules";
const NEEDS_SETS = "sets of values are not kept";
const NEEDS_SCRIPT = "scripts are not run";

/** Keywords of Suricata that this engine does not run → why. */
const REFUSED: Readonly<Record<string, string>> = {
  lua: NEEDS_SCRIPT, luajit: NEEDS_SCRIPT, luaxform: NEEDS_SCRIPT,
  dataset: NEEDS_SETS, datarep: NEEDS_SETS, iprep: NEEDS_FILE, geoip: NEEDS_FILE, filemd5: NEEDS_FILE, filesha1: NEEDS_FILE, filesha256: NEEDS_FILE,
  filemagic: "it needs libmagic's database", "file.magic": "it needs libmagic's database",
  frame: "frames are not kept", asn1: "ASN.1 is not decoded in payloads", config: "rules do not configure the engine",
};

/** By name. A map, so that no word of a file meets what objects inherit. */
const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(Object.entries<Keyword>({
  content, uricontent: uriContent, pcre,
  ...CONTENT_MODIFIERS, ...BYTE_KEYWORDS, ...BUFFER_KEYWORDS, ...TRANSFORM_KEYWORDS, ...NUMBER_KEYWORDS, ...PACKET_KEYWORDS, ...FLOW_KEYWORDS,
  ...META_KEYWORDS, ...APPLICATION_KEYWORDS,
}));

/** @returns What reads the keyword, or the reason why nothing does. Names are in any letter case. */
export function findKeyword(name: string): Keyword | string {
  const keyword = KEYWORDS.get(name);
  if (keyword !== undefined) return keyword;
  const lower = name.toLowerCase();
  return KEYWORDS.get(lower) ?? (Object.hasOwn(REFUSED, lower) ? REFUSED[lower] : undefined) ?? "unknown keyword";
}
