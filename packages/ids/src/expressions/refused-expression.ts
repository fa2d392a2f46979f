/** Whether the expressions of a rule can be run: for whoever takes rules from people, so that none is silent for a slip in one. */

import type { Refusal } from "../rules/parse-rule.ts";
import type { Rule } from "../rules/rule.ts";
import { compileExpression } from "./compile-expression.ts";

/** Reads each expression of a rule, which takes some 0.2 ms each. @returns The first that cannot be run: it would never match, nor would its opposite; or `null`. */
export function findRefusedExpression({ line, id, gid, buffers }: Rule): Refusal | null {
  for (const { matches, transforms } of buffers) {
    for (const [keyword, reads] of [["pcrexform", transforms], ["pcre", matches]] as const) {
      for (const read of reads) {
        const compiled = read.kind === "pcre" ? compileExpression(read.source, read.flags) : null;
        if (compiled?.ok === false) return { line, id, gid, keyword, reason: compiled.reason };
      }
    }
  }
  return null;
}
