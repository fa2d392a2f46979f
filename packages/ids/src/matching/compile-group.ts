/** What a rule asks of one buffer, made ready to be matched. */

import { compileExpression, type Expression } from "../expressions/compile-expression.ts";
import type { BufferMatch, Content, Pcre } from "../rules/buffer-match.ts";

/** A content with what follows from its place in the group. */
export interface ContentStep extends Content {
  /** A later match counts from where this one ends, so that another place may help it. */
  readonly isCountedFrom: boolean;
  readonly isRelative: boolean;
}

/** A `pcre` that can be run. */
export interface ExpressionStep {
  readonly kind: "expression";
  readonly expression: Expression;
  readonly isNegated: boolean;
  readonly isRelative: boolean;
  readonly isCountedFrom: boolean;
}

/** One match, ready to be made. */
export type GroupStep = ContentStep | ExpressionStep | Exclude<BufferMatch, Content | Pcre>;

/** The matches of one buffer, in the order of the rule. */
export interface CompiledGroup {
  readonly steps: readonly GroupStep[];
  /** What is asked of the bytes that its `base64-decode` decodes. */
  readonly decoded: CompiledGroup | null;
}

/** A group that can be matched, or why it cannot be. */
export type CompiledGroupResult = { readonly ok: true; readonly group: CompiledGroup } | { readonly ok: false; readonly reason: string };

/** Each match goes one call deeper; Suricata's own rules have fewer than 60. */
const MAX_MATCHES = 500;

/** @param decoded The rule's group of `base64_data`, where it has one. */
export function compileGroup(matches: readonly BufferMatch[], decoded: CompiledGroup | null = null): CompiledGroupResult {
  if (matches.length > MAX_MATCHES) return { ok: false, reason: `more than ${MAX_MATCHES} matches in one buffer` };
  const steps: GroupStep[] = [];
  for (const [index, match] of matches.entries()) {
    const isCountedFrom = matchesCountFrom(matches.slice(index + 1));
    if (match.kind === "content") {
      steps.push(contentStep(match, isCountedFrom));
    } else if (match.kind === "pcre") {
      const compiled = compileExpression(match.source, match.flags);
      if (!compiled.ok) return { ok: false, reason: `pcre: ${compiled.reason}` };
      steps.push({ kind: "expression", expression: compiled.expression, isNegated: match.isNegated, isRelative: match.isRelative, isCountedFrom });
    } else {
      steps.push(match);
    }
  }
  return { ok: true, group: { steps, decoded: matches.some(({ kind }) => kind === "base64-decode") ? decoded : null } };
}

/** Written out: a spread with more behind it makes a shape of its own for V8 each time, of 300 bytes, and slows what reads it. */
function contentStep(match: Content, isCountedFrom: boolean): ContentStep {
  const { bytes, isNegated, ignoreCase, offset, depth, distance, within, endsWith } = match;
  return { kind: "content", bytes, isNegated, ignoreCase, offset, depth, distance, within, endsWith, isCountedFrom, isRelative: isRelative(match) };
}

/** @returns Whether any counts from the match before them all, rather than from one of their own. */
function matchesCountFrom(behind: readonly BufferMatch[]): boolean {
  for (const match of behind) {
    if (isRelative(match)) return true;
    if (movesPlace(match)) return false;
  }
  return false;
}

function isRelative(match: BufferMatch): boolean {
  if (match.kind === "content") return match.distance !== null || match.within !== null;
  return "isRelative" in match && match.isRelative;
}

function movesPlace(match: BufferMatch): boolean {
  switch (match.kind) {
    case "content":
    case "pcre":
      return !match.isNegated;
    case "byte-jump":
    case "byte-extract":
    case "byte-math":
      return true;
    case "byte-test":
    case "is-data-at":
    case "size":
    case "base64-decode":
    case "absent":
    case "entropy":
    case "dataset":
    default:
      return false;
  }
}
