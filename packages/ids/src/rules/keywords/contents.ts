/**
 * `content` and its modifiers.
 * @see https://docs.suricata.io/en/latest/rules/payload-keywords.html
 */

import type { Amount } from "../buffer-match.ts";
import { addMatch, type DraftContent, EMPTY_CONTENT, findVariable, groupOf, needApplications, type RuleDraft } from "../draft.ts";
import { parseInteger, parseNumber } from "../text/numbers.ts";
import { readQuoted } from "../text/options.ts";
import type { Keyword } from "./keyword.ts";

/** Suricata's own bound for places in buffers. */
const MAX_PLACE = 1_048_576;
/** Its bound of a pattern. */
const MAX_CONTENT_BYTES = 65_535;
const ESCAPED = "\"\\;:";

/** Reused: what is read is copied out of it. */
const scratch = new Uint8Array(MAX_CONTENT_BYTES);

const BAR = 0x7c;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
/** Values of hexadecimal digits by their code; -1 for all else. */
const DIGITS = Int8Array.from({ length: 256 }, (_, code) => (/[0-9a-f]/i.test(String.fromCharCode(code)) ? Number.parseInt(String.fromCharCode(code), 16) : -1));

/** @returns The bytes of a content: characters, escapes, and hexadecimal between bars; or the reason. */
export function parseContentBytes(text: string): Uint8Array | string {
  let count = 0;
  let isHex = false;
  let high = -1;
  for (let at = 0; at < text.length; at += 1) {
    let code = text.charCodeAt(at);
    if (code === BAR) {
      if (high >= 0) return "an odd number of hexadecimal digits";
      isHex = !isHex;
      continue;
    }
    if (isHex) {
      if (code === SPACE) continue;
      const digit = DIGITS[code] ?? -1;
      if (digit < 0) return `${text.charAt(at)} is no hexadecimal digit`;
      if (high < 0) {
        high = digit;
        continue;
      }
      code = high * 16 + digit;
      high = -1;
    } else if (code === BACKSLASH) {
      at += 1;
      if (at >= text.length || !ESCAPED.includes(text.charAt(at))) return `the backslash stands before ${text.charAt(at) || "nothing"}`;
      code = text.charCodeAt(at);
    }
    if (count === MAX_CONTENT_BYTES) return `it has more than ${MAX_CONTENT_BYTES} bytes`;
    scratch[count] = code;
    count += 1;
  }
  if (isHex) return "a bar is not closed";
  return count === 0 ? "it is empty" : scratch.slice(0, count);
}

/** Reads `content`. */
export const content: Keyword = (draft, value) => {
  const quoted = readQuoted(value);
  if (!quoted?.isQuoted) return "its text is not in quotes";
  const bytes = draft.settings.shared.bytes(quoted.text, parseContentBytes);
  if (typeof bytes === "string") return bytes;
  const made: DraftContent = { ...EMPTY_CONTENT, bytes, isNegated: quoted.isNegated };
  const group = addMatch(draft, made);
  draft.lastContent = { content: made, group };
  return null;
};

/** Reads `uricontent`, an old form of `http.uri; content`. */
export const uriContent: Keyword = (draft, value) => {
  if (draft.sticky) return "it cannot stand behind a sticky buffer";
  draft.sticky = { buffer: "http.uri", transforms: [], group: null };
  const reason = needApplications(draft, ["http", "http2"]) ?? content(draft, value);
  draft.sticky = null;
  return reason;
};

/** @returns A modifier of the content before it. */
function modifier(change: (target: DraftContent, value: string, draft: RuleDraft) => string | null): Keyword {
  return (draft, value) => (draft.lastContent ? change(draft.lastContent.content, value, draft) : "there is no content before it");
}

function place(change: (target: DraftContent, amount: Amount) => string | null): Keyword {
  return modifier((target, value, draft) => {
    const amount = findVariable(draft, value) ?? parseInteger(value, MAX_PLACE);
    return amount === null ? `${value} is neither a number nor a variable` : change(target, amount);
  });
}

function isRelative(target: DraftContent): boolean {
  return target.distance !== null || target.within !== null;
}

function isPlaced(target: DraftContent): boolean {
  return target.offset !== null || target.depth !== null;
}

const MIXED = "offset and depth cannot stand with distance and within";

/** Modifiers by name. */
export const CONTENT_MODIFIERS: Readonly<Record<string, Keyword>> = {
  nocase: modifier((target, _, { settings: { shared } }) => {
    target.ignoreCase = true;
    target.bytes = shared.lowerCase(target.bytes);
    return null;
  }),
  offset: place((target, amount) => {
    if (isRelative(target)) return MIXED;
    if (target.offset !== null) return "it stands twice";
    if (typeof amount === "number" && amount < 0) return "it is negative";
    target.offset = amount;
    return null;
  }),
  depth: place((target, amount) => {
    if (isRelative(target)) return MIXED;
    if (target.depth !== null) return "it stands twice";
    if (typeof amount === "number" && amount < target.bytes.length) return "it is less than the content's length";
    target.depth = amount;
    return null;
  }),
  distance: place((target, amount) => {
    if (isPlaced(target)) return MIXED;
    if (target.distance !== null) return "it stands twice";
    target.distance = amount;
    return null;
  }),
  within: place((target, amount) => {
    if (isPlaced(target)) return MIXED;
    if (target.within !== null) return "it stands twice";
    if (typeof amount === "number" && amount < target.bytes.length) return "it is less than the content's length";
    target.within = amount;
    return null;
  }),
  startswith: modifier((target) => {
    if (isRelative(target) || isPlaced(target)) return "it cannot stand with other places";
    target.offset = 0;
    target.depth = target.bytes.length;
    return null;
  }),
  endswith: modifier((target) => {
    target.endsWith = true;
    return null;
  }),
  fast_pattern: modifier((target, value, draft) => {
    if (draft.groups.some((group) => group.matches.some((match) => match.kind === "content" && match.fastPattern))) return "it stands twice";
    if (target.isNegated && (isRelative(target) || isPlaced(target))) return "a negated content with a place cannot be it";
    if (value === "" || value === "only") {
      target.fastPattern = { isOnly: value === "only", offset: 0, length: target.bytes.length };
      return null;
    }
    const [offset, length, ...rest] = value.split(",").map((word) => parseNumber(word, MAX_PLACE));
    if (typeof offset !== "number" || typeof length !== "number" || rest.length > 0 || length === 0) return `cannot read ${value}`;
    if (offset + length > target.bytes.length) return "its part ends behind the content";
    target.fastPattern = { isOnly: false, offset, length };
    return null;
  }),
  rawbytes: modifier(() => null),
  replace: modifier((target, value) => {
    const quoted = readQuoted(value);
    const bytes = quoted?.isQuoted ? parseContentBytes(quoted.text) : "its text is not in quotes";
    if (typeof bytes === "string") return bytes;
    return bytes.length === target.bytes.length ? null : "it is not as long as the content";
  }),
};

/** @returns A keyword that moves the content before it to a buffer. */
export function bufferModifier(buffer: Parameters<typeof groupOf>[1]): Keyword {
  return (draft) => {
    const { lastContent } = draft;
    if (draft.sticky) return "it cannot stand behind a sticky buffer";
    if (!lastContent) return "there is no content before it";
    if (lastContent.group.buffer !== "payload") return `the content before it is in ${lastContent.group.buffer}`;
    lastContent.group.matches.splice(lastContent.group.matches.lastIndexOf(lastContent.content), 1);
    lastContent.group = groupOf(draft, buffer);
    lastContent.group.matches.push(lastContent.content);
    draft.lastGroup = lastContent.group;
    return needApplications(draft, ["http", "http2"]);
  };
}
