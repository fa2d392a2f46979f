/** Which content of a rule is searched for before anything else of it is looked at. */

import type { Pattern } from "../patterns/pattern-set.ts";
import type { Content } from "../rules/buffer-match.ts";
import type { BufferGroup, Rule } from "../rules/rule.ts";

/** What a rule is filed under: without it in that buffer, the rule cannot match. */
export interface ChosenPattern {
  /** Index in `Rule.buffers`. */
  readonly group: number;
  readonly pattern: Pattern;
}

/** Of payload, which nearly every packet has; a content of another buffer is better though it is that much worse. */
const PAYLOAD_PENALTY = 12;

/** More says little more: a pattern is compared only where four of its bytes are. */
const MAX_SCORED_BYTES = 32;

/** @returns The content that the rule names, or its best: long, of many different bytes, and few letters. Null where no content must be there. */
export function choosePattern(rule: Pick<Rule, "buffers" | "fastPattern">): ChosenPattern | null {
  const named = rule.fastPattern && contentAt(rule, rule.fastPattern.group, rule.fastPattern.match);
  if (rule.fastPattern && named && !named.isNegated && mustBeThere(rule.buffers[rule.fastPattern.group])) {
    const { group, offset, length } = rule.fastPattern;
    const isWhole = offset === 0 && length === named.bytes.length;
    return { group, pattern: isWhole ? patternOf(named) : anywhere(named.bytes.subarray(offset, offset + length), named.ignoreCase) };
  }
  let best: { readonly group: number; readonly content: Content } | null = null;
  let most = -Infinity;
  for (let group = 0; group < rule.buffers.length; group += 1) {
    const buffer = rule.buffers[group] as BufferGroup;
    if (!mustBeThere(buffer)) continue;
    const penalty = buffer.buffer === "payload" ? PAYLOAD_PENALTY : 0;
    for (const match of buffer.matches) {
      if (match.kind !== "content" || match.isNegated || match.bytes.length === 0) continue;
      const score = scoreOf(match.bytes) - penalty;
      if (score > most) [best, most] = [{ group, content: match }, score];
    }
  }
  return best && { group: best.group, pattern: patternOf(best.content) };
}

function contentAt(rule: Pick<Rule, "buffers">, group: number, index: number): Content | null {
  const match = rule.buffers[group]?.matches[index];
  return match?.kind === "content" ? match : null;
}

/** What a rule decodes itself is in no buffer yet, and one that may be absent need not hold anything. */
function mustBeThere(group: BufferGroup | undefined): boolean {
  return group !== undefined && group.buffer !== "base64_data" && !group.matches.some(({ kind }) => kind === "absent");
}

/** Reused: which byte was last seen in which content. */
const seenIn = new Uint32Array(256);
let scored = 0;

function scoreOf(bytes: Uint8Array): number {
  scored = (scored + 1) >>> 0;
  if (scored === 0) {
    seenIn.fill(0);
    scored = 1;
  }
  let score = 0;
  for (let at = 0; at < bytes.length && at < MAX_SCORED_BYTES; at += 1) {
    const byte = bytes[at] as number;
    score += seenIn[byte] === scored ? 1 : isOrdinary(byte) ? 3 : 4;
    seenIn[byte] = scored;
  }
  return score;
}

function isOrdinary(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || byte === 0x20 || byte === 0x00 || byte === 0xff;
}

/** With the places that the content itself names; those that depend on other matches, or on numbers in the buffer, are left to the rule. */
function patternOf(content: Content): Pattern {
  const { bytes, ignoreCase, offset, depth, distance, within, endsWith } = content;
  const isAbsolute = distance === null && within === null && [offset, depth].every((amount) => amount === null || typeof amount === "number");
  if (!isAbsolute) return { ...anywhere(bytes, ignoreCase), endsWith };
  const from = typeof offset === "number" ? offset : 0;
  return { bytes, ignoreCase, offset: from, depth: typeof depth === "number" ? from + depth : Infinity, endsWith };
}

function anywhere(bytes: Uint8Array, ignoreCase: boolean): Pattern {
  return { bytes, ignoreCase, offset: 0, depth: Infinity, endsWith: false };
}
