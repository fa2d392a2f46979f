/** What a rule's expressions keep of what they matched. */

import { compiledExpressions } from "../../expressions/compiled-expressions.ts";
import type { GroupPlace } from "../../inspection/match-rule.ts";
import type { Rule } from "../../rules/rule.ts";

const MAX_STEPS = 100_000;
const MAX_CAPTURE_LETTERS = 256;

/** @returns Texts by name, one character a byte; empty for nearly all rules. */
export function capturesOf({ buffers }: Rule, places: readonly GroupPlace[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const group of buffers) {
    for (const [index, match] of group.matches.entries()) {
      if (match.kind !== "pcre" || match.captures.length === 0) continue;
      const place = places.find(({ buffer, bytes }) => buffer === group.buffer && bytes !== null);
      const expression = place?.bytes ? compiledExpressions.of(match) : null;
      if (!place?.bytes || expression === null) continue;
      const groups = expression.find(place.bytes, Math.max(place.starts[index] ?? 0, 0), { left: MAX_STEPS })?.groups ?? [];
      for (const [at, { name }] of match.captures.entries()) {
        const text = groups[at + 1];
        if (text !== undefined) found[name] = text.slice(0, MAX_CAPTURE_LETTERS);
      }
    }
  }
  return found;
}
