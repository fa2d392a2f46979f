import { type Baseline, type Comparison, factName, type KnownFact, type Mode } from "../compare/result.ts";

/** A week before `NOW` and a minute. */
export const AGO = "2026-01-01T00:00:00.000Z";
/** When things were last looked for in tests of comparisons. */
export const NOW = "2026-01-08T00:01:00.000Z";
/** When they are compared: a minute later. */
export const SOON = "2026-01-08T00:02:00.000Z";

/** `KIND KEY = VALUE`, with ` by ` and a name behind it where a person set it. */
export type FactText = `${KnownFact["kind"]} ${string} = ${string}`;

/** A baseline with these facts, each last looked for a minute before `NOW`. @param scopes Ids of lists of ports. */
export function baselineOf(facts: readonly FactText[], mode: Mode = "active", scopes: readonly string[] = []): Baseline {
  const lookedAt = "2026-01-08T00:00:00.000Z";
  return {
    mode, scopes: new Set(scopes),
    facts: new Map(facts.map((text) => {
      const [, kind = "", key = "", value = "", by] = /^(\S+) (.+?) = (.*?)( by \w+)?$/.exec(text) ?? [];
      const fact: KnownFact = { kind: kind as KnownFact["kind"], key, value, firstSeen: AGO, lookedAt, isLearned: by === undefined };
      return [factName(fact), fact];
    })),
  };
}

/** What a comparison came to, as texts. */
export function outcomes({ differences, learned, forgotten, undecided }: Comparison) {
  return {
    differences: differences.map(({ kind, key, outcome, expected, observed }) => `${kind} ${key} ${outcome}: ${expected} -> ${observed}`),
    learned: learned.map(factName), forgotten: forgotten.map(factName), undecided: [...undecided],
  };
}
