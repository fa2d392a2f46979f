/**
 * Keywords that read numbers in buffers, and `isdataat`.
 * @see https://docs.suricata.io/en/latest/rules/payload-keywords.html
 */

import type { ByteMath, ByteTest } from "../buffer-match.ts";
import { activeGroup, addMatch, makeVariable, type RuleDraft } from "../draft.ts";
import { lookUp } from "../text/look-up.ts";
import { parseNumber } from "../text/numbers.ts";
import { splitWords } from "../text/options.ts";
import { readAmount, readByteOptions, readForm, readValue } from "./byte-options.ts";
import type { Keyword } from "./keyword.ts";

const OPERATORS: Readonly<Record<string, ByteTest["operator"]>> = { "<": "<", ">": ">", "=": "=", "": "=", "<=": "<=", ">=": ">=", "&": "&", "^": "^" };

const byteTest: Keyword = (draft, value) => {
  const [countText = "", operatorText = "", valueText = "", offsetText = "", ...words] = splitWords(value);
  const isNegated = operatorText.startsWith("!");
  const name = isNegated ? operatorText.slice(1).trim() : operatorText;
  const operator = operatorText === "" ? undefined : lookUp(OPERATORS, name);
  const count = readAmount(draft, countText, false);
  const compared = readValue(draft, valueText);
  const offset = readAmount(draft, offsetText, true);
  if (!operator) return `${operatorText} is no operator`;
  if (count === null) return `${countText} is no number of bytes`;
  if (compared === null) return `${valueText} is no value`;
  if (offset === null) return `${offsetText} is no offset`;
  const options = readByteOptions(draft, words);
  if (typeof options === "string") return options;
  const form = readForm(options, count, 8);
  if (typeof form === "string") return form;
  if (count === 0 && form.digits === null) return "a binary number has at least one byte";
  const { isRelative, bitmask } = options;
  addMatch(draft, { kind: "byte-test", count, offset, isRelative, form, bitmask, operator, isNegated, value: compared }, isRelative);
  return null;
};

const byteJump: Keyword = (draft, value) => {
  const [countText = "", offsetText = "", ...words] = splitWords(value);
  const count = readAmount(draft, countText, false);
  const offset = readAmount(draft, offsetText, true);
  if (count === null) return `${countText} is no number of bytes`;
  if (offset === null) return `${offsetText} is no offset`;
  const options = readByteOptions(draft, words);
  if (typeof options === "string") return options;
  const form = readForm(options, count, 8);
  if (typeof form === "string") return form;
  const { isRelative, bitmask, multiplier, from, postOffset } = options;
  addMatch(draft, { kind: "byte-jump", count, offset, isRelative, form, bitmask, multiplier, isAligned: options.align > 0, from, postOffset }, isRelative);
  return null;
};

const byteExtract: Keyword = (draft, value) => {
  const [countText = "", offsetText = "", name = "", ...words] = splitWords(value);
  const count = parseNumber(countText, 23);
  const offset = readAmount(draft, offsetText, true);
  if (!count) return `${countText} is no number of bytes`;
  if (offset === null) return `${offsetText} is no offset`;
  if (!isName(name)) return `${name} is no name`;
  const options = readByteOptions(draft, words);
  if (typeof options === "string") return options;
  const form = readForm(options, count, 8);
  if (typeof form === "string") return form;
  const { isRelative, bitmask, multiplier, align } = options;
  addMatch(draft, { kind: "byte-extract", count, offset, isRelative, form, multiplier, align, bitmask, result: makeVariable(draft, name) }, isRelative);
  return null;
};

const MATH: ReadonlySet<string> = new Set(["+", "-", "*", "/", "<<", ">>"]);

const byteMath: Keyword = (draft, value) => {
  const places = new Map<string, string>();
  const words: string[] = [];
  for (const word of splitWords(value)) {
    const [name = "", text = "", extra] = word.split(/\s+/);
    if (!/^(?:bytes|offset|oper|rvalue|result)$/.test(name)) words.push(word);
    else if (extra !== undefined || places.has(name)) return `cannot read ${word}`;
    else places.set(name, text);
  }
  const count = readAmount(draft, places.get("bytes") ?? "", false);
  const offset = readAmount(draft, places.get("offset") ?? "", true);
  const rvalue = readValue(draft, places.get("rvalue") ?? "");
  const operator = places.get("oper") ?? "";
  const result = places.get("result") ?? "";
  if (count === null || count === 0) return "bytes is missing or no number";
  if (offset === null) return "offset is missing or no number";
  if (rvalue === null) return "rvalue is missing or no value";
  if (!isMath(operator)) return `${operator || "nothing"} is no operator`;
  if (!isName(result)) return "result is missing or no name";
  return addMath(draft, words, { count, offset, value: rvalue, operator, result });
};

function addMath(draft: RuleDraft, words: readonly string[], parts: Pick<ByteMath, "count" | "offset" | "value" | "operator"> & { readonly result: string }): string | null {
  const options = readByteOptions(draft, words);
  if (typeof options === "string") return options;
  const form = readForm(options, parts.count, 4);
  if (typeof form === "string") return form;
  const { isRelative, bitmask } = options;
  addMatch(draft, { kind: "byte-math", ...parts, isRelative, form, bitmask, result: makeVariable(draft, parts.result) }, isRelative);
  return null;
}

const isDataAt: Keyword = (draft, value) => {
  const isNegated = value.startsWith("!");
  const [place = "", ...words] = splitWords(isNegated ? value.slice(1) : value);
  const at = readAmount(draft, place, false);
  if (at === null) return `${place} is no place`;
  const other = words.find((word) => word !== "relative" && word !== "rawbytes");
  if (other !== undefined) return `cannot read ${other || "an empty place"}`;
  const isRelative = words.includes("relative");
  // No byte behind a content is what endswith says, of a negated content too, and Suricata takes it so.
  if (isNegated && isRelative && at === 1 && endLastContent(draft)) return null;
  addMatch(draft, { kind: "is-data-at", at, isRelative, isNegated }, isRelative);
  return null;
};

function endLastContent(draft: RuleDraft): boolean {
  const { matches } = activeGroup(draft, true);
  const last = matches.at(-1);
  if (last?.kind !== "content") return false;
  matches[matches.length - 1] = { ...last, endsWith: true };
  return true;
}

function isMath(text: string): text is ByteMath["operator"] {
  return MATH.has(text);
}

function isName(text: string): boolean {
  return /^[a-z_][\w.-]*$/i.test(text);
}

/** Keywords that read numbers. */
export const BYTE_KEYWORDS: Readonly<Record<string, Keyword>> = {
  byte_test: byteTest, byte_jump: byteJump, byte_extract: byteExtract, byte_math: byteMath, isdataat: isDataAt,
};
