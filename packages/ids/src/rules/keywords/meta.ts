/**
 * Keywords that describe a rule and its alerts.
 * @see https://docs.suricata.io/en/latest/rules/meta.html and https://docs.suricata.io/en/latest/rules/thresholding.html
 */

import type { Threshold, Track } from "../rule.ts";
import { flatText } from "../text/flat-text.ts";
import { readableText } from "../text/lines.ts";
import { lookUp } from "../text/look-up.ts";
import { parseNumber } from "../text/numbers.ts";
import { readQuoted, splitWords, unescapeText } from "../text/options.ts";
import type { Keyword } from "./keyword.ts";

function numberInto(key: "id" | "gid" | "revision" | "priority", min: number, max: number): Keyword {
  return (draft, value) => {
    const number = /^\d+$/.test(value) ? parseNumber(value, max) : null;
    if (number === null || number < min) return `${value} is no number from ${min} to ${max}`;
    draft[key] = number;
    return null;
  };
}

const message: Keyword = (draft, value) => {
  const quoted = readQuoted(value);
  if (!quoted?.isQuoted || quoted.isNegated) return "its text is not in quotes";
  draft.message = flatText(readableText(unescapeText(quoted.text)));
  return null;
};

const classType: Keyword = (draft, value) => {
  const name = value.replaceAll("\"", "").trim();
  if (name === "") return "it is empty";
  draft.class = draft.settings.classes.get(name.toLowerCase()) ?? draft.settings.shared.unknownClass(name);
  return null;
};

const reference: Keyword = (draft, value) => {
  const comma = value.indexOf(",");
  const system = value.slice(0, comma).trim().toLowerCase();
  const id = unescapeText(value.slice(comma + 1).trim().replace(/^"(.*)"$/, "$1"));
  if (comma < 1 || system === "" || id === "") return "it is not a system and an id";
  const prefix = draft.settings.references.get(system);
  const isUrl = system === "url" && prefix === undefined;
  const url = isUrl ? (/^https?:\/\//i.test(id) ? id : `http://${id}`) : prefix === undefined ? null : `${prefix}${id}`;
  draft.references.push(draft.settings.shared.reference(system, id, url));
  return null;
};

const metadata: Keyword = (draft, value) => {
  for (const pair of splitWords(value.replaceAll("\"", ""))) {
    const space = pair.search(/\s/);
    if (pair !== "") draft.metadata.push(space < 0 ? draft.settings.shared.pair(pair, "") : draft.settings.shared.pair(pair.slice(0, space), readableText(pair.slice(space + 1).trim())));
  }
  return null;
};

const target: Keyword = (draft, value) => {
  if (value !== "src_ip" && value !== "dest_ip") return `${value} is neither src_ip nor dest_ip`;
  draft.target = value === "src_ip" ? "source" : "destination";
  return null;
};

const TRACKS: Readonly<Record<string, Track>> = { by_src: "source", by_dst: "destination", by_both: "both", by_rule: "rule", by_flow: "flow" };
const KINDS: Readonly<Record<string, Threshold["kind"]>> = { limit: "limit", threshold: "threshold", both: "both", backoff: "backoff" };

/** @returns Pairs of a name and a value between commas; `null` where a name repeats or is not in the list. */
export function readPairs(text: string, names: readonly string[]): ReadonlyMap<string, string> | null {
  const pairs = new Map<string, string>();
  for (const word of splitWords(text)) {
    const [name = "", value = "", extra] = word.split(/\s+/);
    if (!names.includes(name) || pairs.has(name) || value === "" || extra !== undefined) return null;
    pairs.set(name, value);
  }
  return pairs;
}

/** @returns What a `threshold` says, or the reason. */
export function readThreshold(text: string): Threshold | string {
  const pairs = readPairs(text, ["type", "track", "count", "seconds", "multiplier"]);
  if (!pairs) return `cannot read ${text}`;
  const kind = lookUp(KINDS, pairs.get("type") ?? "");
  const track = lookUp(TRACKS, pairs.get("track") ?? "");
  const count = parseNumber(pairs.get("count") ?? "", 0xffff_ffff);
  const isBackoff = kind === "backoff";
  const rest = parseNumber(pairs.get(isBackoff ? "multiplier" : "seconds") ?? "", 0xffff_ffff);
  if (!kind || !track || !count || !rest || pairs.size !== 4) return `a part is missing or wrong in ${text}`;
  if (isBackoff && track !== "flow") return "backoff is by_flow alone";
  return { kind, track, count, seconds: isBackoff ? 0 : rest, multiplier: isBackoff ? rest : 0 };
}

const threshold: Keyword = (draft, value) => {
  const read = readThreshold(value);
  if (typeof read === "string") return read;
  if (draft.threshold || draft.detectionFilter) return "a rule has one threshold or detection_filter";
  draft.threshold = read;
  return null;
};

const detectionFilter: Keyword = (draft, value) => {
  const pairs = readPairs(value, ["track", "count", "seconds"]);
  const track = lookUp(TRACKS, pairs?.get("track") ?? "");
  const count = parseNumber(pairs?.get("count") ?? "", 0xffff_ffff);
  const seconds = parseNumber(pairs?.get("seconds") ?? "", 0xffff_ffff);
  if (!track || !count || !seconds) return `cannot read ${value}`;
  if (draft.threshold || draft.detectionFilter) return "a rule has one threshold or detection_filter";
  draft.detectionFilter = { track, count, seconds };
  return null;
};

/** How much is kept where `tag` does not say. */
const DEFAULT_TAG_PACKETS = 256;

const tag: Keyword = (draft, value) => {
  const [scope = "", ...words] = splitWords(value);
  if (scope !== "session" && scope !== "host") return `unknown scope ${scope}`;
  const last = words.at(-1);
  const host = last === "src" ? "source" : last === "dst" ? "destination" : null;
  const [countText, unit, extra] = host ? words.slice(0, -1) : words;
  const count = countText === undefined ? DEFAULT_TAG_PACKETS : parseNumber(countText, 0xffff_ffff);
  const isUnit = unit === undefined || unit === "packets" || unit === "seconds" || unit === "bytes";
  if (!count || !isUnit || extra !== undefined || (countText !== undefined && unit === undefined)) return `cannot read ${value}`;
  if (scope === "session" && host) return "session has no src or dst";
  draft.tag = { scope, count, unit: unit ?? "packets", host: scope === "host" ? host ?? "destination" : null };
  return null;
};

const ignore: Keyword = () => null;

/** Keywords that describe, and those that change nothing in what is matched here. */
export const META_KEYWORDS: Readonly<Record<string, Keyword>> = {
  sid: numberInto("id", 1, 0xffff_ffff), gid: numberInto("gid", 0, 0xffff_ffff), rev: numberInto("revision", 0, 0xffff_ffff), priority: numberInto("priority", 1, 255),
  msg: message, classtype: classType, reference, metadata, target, threshold, detection_filter: detectionFilter, tag,
  prefilter: ignore, bypass: ignore, filestore: ignore, "tls.store": ignore, tls_store: ignore, nfq_set_mark: ignore, requires: ignore,
};

/** @returns The whole reading of `draft.id` before anything else, so that a refusal can name it. */
export function idOf(options: readonly { readonly name: string; readonly value: string | null }[], name: "sid" | "gid"): number | null {
  const value = options.find((option) => option.name === name)?.value ?? "";
  return /^\d+$/.test(value) ? parseNumber(value, 0xffff_ffff) : null;
}
