/** Which rules of a base are compiled: no more than a bound, whatever traffic comes. */

/** A rule that keeps what was compiled of it. */
export interface CompiledRule {
  /** It was run since somebody set this to false. */
  wasUsed: boolean;
  forget(): void;
}

/** The compiled rules of a base. */
export interface CompiledRules {
  /** One more is compiled; where there are too many, one that was not used of late is forgotten. */
  add(rule: CompiledRule): void;
}

/** Ordinary traffic comes near some hundred rules. Of 1 KiB, and some with expressions 10. */
const MAX_COMPILED = 1024;

/** @returns None is compiled yet. */
export function createCompiledRules(max = MAX_COMPILED): CompiledRules {
  const rules: CompiledRule[] = [];
  let hand = 0;
  return {
    add(rule) {
      if (rules.length < max) {
        rules.push(rule);
        return;
      }
      // A clock's hand: those that were used get a second chance. One turn at most.
      for (let tried = 0; tried < max && rules[hand]?.wasUsed; tried += 1) {
        (rules[hand] as CompiledRule).wasUsed = false;
        hand = (hand + 1) % max;
      }
      rules[hand]?.forget();
      rules[hand] = rule;
      hand = (hand + 1) % max;
    },
  };
}
