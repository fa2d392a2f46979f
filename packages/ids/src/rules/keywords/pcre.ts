/**
 * `pcre`: the delimiters, flags and captures; whoever runs the expression reads what is between.
 * @see https://docs.suricata.io/en/latest/rules/payload-keywords.html#pcre-perl-compatible-regular-expressions
 */

import type { PcreCapture } from "../buffer-match.ts";
import type { BufferName } from "../buffer-names.ts";
import { activeGroup, groupOf, needApplications, type RuleDraft } from "../draft.ts";
import { flatText } from "../text/flat-text.ts";
import { readQuoted } from "../text/options.ts";
import type { PcreFlags } from "../transform.ts";
import type { Keyword } from "./keyword.ts";

/** Letters that name a buffer of HTTP. */
const BUFFERS: Readonly<Record<string, BufferName>> = {
  U: "http.uri", I: "http.uri.raw", P: "http.request_body", Q: "http.response_body", H: "http.header", D: "http.header.raw", M: "http.method",
  C: "http.cookie", S: "http.stat_code", Y: "http.stat_msg", V: "http.user_agent", W: "http.host", Z: "http.host.raw",
};

const MAX_CAPTURES = 8;
/** Suricata's own bound of a whole rule. */
const MAX_EXPRESSION_BYTES = 8192;

/** An expression between slashes, with the letters behind them. */
export interface Delimited {
  readonly source: string;
  readonly letters: string;
  readonly captures: readonly PcreCapture[];
}

const CAPTURE = /^(?:pkt|flow|alert):[^\s,]/;

/** @returns The parts of `/source/letters, flow:name`; or the reason. */
export function readDelimited(text: string): Delimited | string {
  if (text.length > MAX_EXPRESSION_BYTES) return `it has more than ${MAX_EXPRESSION_BYTES} bytes`;
  const last = text.lastIndexOf("/");
  if (!text.startsWith("/") || last === 0) return readCapturesWithSlash(text);
  const tail = /^([a-zA-Z]*)\s*$/.exec(text.slice(last + 1));
  return tail ? { source: text.slice(1, last), letters: tail[1] ?? "", captures: [] } : readCapturesWithSlash(text);
}

/** Names of captures may have slashes themselves, and follow a comma behind the letters: the first comma behind which nothing but captures stands. */
function readCapturesWithSlash(text: string): Delimited | string {
  const words = text.split(",");
  let first = words.length;
  while (first > 1 && CAPTURE.test((words[first - 1] ?? "").trim())) first -= 1;
  let end = words.slice(0, first).join(",").length;
  for (let at = first; at < words.length && text.startsWith("/"); at += 1) {
    const word = words[at - 1] ?? "";
    const slash = word.lastIndexOf("/");
    const start = end - word.length + slash;
    const letters = slash < 0 || start <= 0 ? null : /^([a-zA-Z]*)\s*$/.exec(word.slice(slash + 1));
    if (letters) return withCaptures({ source: text.slice(1, start), letters: letters[1] ?? "" }, words.slice(at));
    end += 1 + (words[at]?.length ?? 0);
  }
  return "it is not between slashes";
}

function withCaptures(expression: Pick<Delimited, "source" | "letters">, words: readonly string[]): Delimited | string {
  if (words.length > MAX_CAPTURES) return `it has more than ${MAX_CAPTURES} captures`;
  const captures = words.map((word): PcreCapture => {
    const [scope, name = ""] = word.trim().split(/:(.*)/);
    return { scope: scope === "pkt" ? "packet" : scope === "flow" ? "flow" : "alert", name };
  });
  return { ...expression, captures };
}

/** @returns What letters say; those of Suricata itself are left out. */
export function flagsOf(letters: string): PcreFlags {
  return {
    ignoreCase: letters.includes("i"), dotAll: letters.includes("s"), multiline: letters.includes("m"), extended: letters.includes("x"),
    anchored: letters.includes("A"), dollarEndOnly: letters.includes("E"), ungreedy: letters.includes("G"),
  };
}

function groupFor(draft: RuleDraft, letters: string, isRelative: boolean) {
  const named = Array.from(letters).filter((letter) => Object.hasOwn(BUFFERS, letter)).flatMap((letter) => BUFFERS[letter] ?? []);
  const [buffer, other] = named;
  if (buffer === undefined) return activeGroup(draft, isRelative);
  if (other !== undefined && other !== buffer) return "its letters name two buffers";
  const isBody = buffer === "http.response_body" && draft.sticky?.buffer === "file.data";
  if (draft.sticky?.buffer === buffer || isBody) return activeGroup(draft, isRelative);
  if (draft.sticky) return `a letter names ${buffer} behind ${draft.sticky.buffer}`;
  return needApplications(draft, ["http", "http2"]) ?? groupOf(draft, buffer);
}

/** Reads `pcre`. */
export const pcre: Keyword = (draft, value) => {
  const quoted = readQuoted(value);
  if (!quoted) return "its quotes are not closed";
  const parts = readDelimited(quoted.text);
  if (typeof parts === "string") return parts;
  const unknown = Array.from(parts.letters).find((letter) => !"ismxAEGRBO".includes(letter) && !Object.hasOwn(BUFFERS, letter));
  if (unknown !== undefined) return `unknown flag ${unknown}`;
  const isRelative = parts.letters.includes("R");
  const group = groupFor(draft, parts.letters, isRelative);
  if (typeof group === "string") return group;
  group.matches.push({ kind: "pcre", source: flatText(parts.source), isNegated: quoted.isNegated, isRelative, flags: flagsOf(parts.letters), captures: parts.captures });
  draft.lastGroup = group;
  return null;
};
