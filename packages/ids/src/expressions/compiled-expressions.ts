/** Which expressions of rules are compiled: no more than a bound, whatever traffic comes. */

import type { PcreFlags } from "../rules/transform.ts";
import { compileExpression, type Expression } from "./compile-expression.ts";

/** An expression as the parser gives it: a `pcre`, or the transform `pcrexform`. */
export interface ReadExpression {
  readonly source: string;
  readonly flags: PcreFlags;
}

/** Expressions that were used of late, by the object that was read. */
export interface CompiledExpressions {
  /** Compiles it where that was not done, or was forgotten. @returns `null` where it cannot be run. */
  of(read: ReadExpression): Expression | null;
  /** How many are kept. */
  size(): number;
}

interface Entry {
  readonly read: ReadExpression;
  readonly expression: Expression | null;
  readonly steps: number;
  /** It was asked for again since the hand went by. */
  wasUsed: boolean;
}

/** Ordinary traffic comes near few of the thousands that rules have. Mostly of 1 to 10 KiB. */
const MAX_KEPT = 128;
/** 100 bytes each. */
const MAX_STEPS = 100_000;

/** @param maxSteps Of all that are kept; the last one stays whatever it has. @returns None is compiled yet. */
export function createCompiledExpressions(maxKept = MAX_KEPT, maxSteps = MAX_STEPS): CompiledExpressions {
  const known = new Map<ReadExpression, Entry>();
  const ring: Entry[] = [];
  let [hand, steps] = [0, 0];

  /** A clock's hand: those that were used get a second chance. One turn at most. */
  function forgetOne(): void {
    for (let tried = 0; tried < ring.length && ring[hand % ring.length]?.wasUsed; tried += 1) {
      (ring[hand % ring.length] as Entry).wasUsed = false;
      hand += 1;
    }
    const place = hand % ring.length;
    const gone = ring[place] as Entry;
    known.delete(gone.read);
    steps -= gone.steps;
    // The place is the next one's, which comes behind all others.
    ring.splice(place, 1);
    hand = place;
  }

  return {
    of(read) {
      const kept = known.get(read);
      if (kept !== undefined) {
        kept.wasUsed = true;
        return kept.expression;
      }
      const compiled = compileExpression(read.source, read.flags);
      const expression = compiled.ok ? compiled.expression : null;
      const entry: Entry = { read, expression, steps: expression?.size ?? 0, wasUsed: false };
      while (ring.length > 0 && (ring.length >= maxKept || steps + entry.steps > maxSteps)) forgetOne();
      ring.splice(hand, 0, entry);
      hand += 1;
      steps += entry.steps;
      known.set(read, entry);
      return expression;
    },
    size: () => ring.length,
  };
}

/** Those of all rules: what matches, what transforms and what is kept of a match ask for the same ones. */
export const compiledExpressions = createCompiledExpressions();
