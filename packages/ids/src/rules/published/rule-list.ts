/** Files of rules as they are published: rules that run, and rules that are switched off by a `#`. */

import { MAX_RULE_BYTES } from "../text/lines.ts";

/** A rule of a file, as text. */
export interface ListedRule {
  /** Line of the file on which it begins, from 1. */
  readonly line: number;
  /** One character a byte, in one line; `null` where it has more than `MAX_RULE_BYTES`. */
  readonly text: string | null;
  /** False where it is behind a `#`. */
  readonly isOn: boolean;
}

const RULE = /^(?:alert|pass|drop|reject|rejectsrc|rejectdst|rejectboth|config)\s/;
const LINE_FEED = 10;

/**
 * The rules of a file in its order. Comments that are no rules are left out. Work is linear in the bytes, and a line that is too long is
 * never text.
 */
export function* readRuleList(bytes: Uint8Array): Generator<ListedRule> {
  let line = 0;
  let begun: { readonly line: number; readonly parts: string[]; length: number } | null = null;
  for (let at = 0; at < bytes.length;) {
    const feed = bytes.indexOf(LINE_FEED, at);
    const end = feed < 0 ? bytes.length : feed;
    line += 1;
    begun ??= { line, parts: [], length: 0 };
    begun.length += end - at;
    const isShort = begun.length <= MAX_RULE_BYTES;
    const part = isShort ? textOf(bytes, at, end) : "";
    const goesOn = isShort ? part.endsWith("\\") : endsWithBackslash(bytes, at, end);
    if (isShort) begun.parts.push(goesOn ? part.slice(0, -1) : part);
    at = end + 1;
    if (goesOn && at < bytes.length) continue;
    const listed = isShort ? listedOf(begun.parts.join("").trim(), begun.line) : { line: begun.line, text: null, isOn: true };
    begun = null;
    if (listed) yield listed;
  }
}

function listedOf(text: string, line: number): ListedRule | null {
  if (text === "") return null;
  if (!text.startsWith("#")) return { line, text, isOn: true };
  let begin = 0;
  while (text[begin] === "#" || text[begin] === " " || text[begin] === "\t") begin += 1;
  const rule = text.slice(begin);
  return RULE.test(rule) && rule.endsWith(")") && rule.includes("sid:") ? { line, text: rule, isOn: false } : null;
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  const last = end > start && bytes[end - 1] === 13 ? end - 1 : end;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, last - start).toString("latin1");
}

function endsWithBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  const last = end > start && bytes[end - 1] === 13 ? end - 1 : end;
  return last > start && bytes[last - 1] === 92;
}
