import { MAX_BASELINE_FACTS } from "@lanthorn/contract";
import { type Comparison, factName, type KnownFact, type Mode } from "../compare/result.ts";
import type { DifferenceOwner } from "../differences/transition.ts";
import type { FactKey, FactRow } from "../store/facts.ts";

/** When a fact was looked for is written down this often; a site is scanned more often than anybody reads it. */
const RENEW_MS = 3_600_000;

/** What becomes of the facts of a baseline. */
export interface FactChanges {
  readonly put: FactRow[];
  readonly remove: FactKey[];
}

/** Facts as a comparison sees them. @param templates Those that count where a baseline has none of its own. */
export function knownFacts(rows: readonly FactRow[], templates: readonly KnownFact[]): ReadonlyMap<string, KnownFact> {
  const facts = new Map(templates.map((fact) => [factName(fact), fact]));
  for (const row of rows) {
    const fact: KnownFact = {
      kind: row.kind as KnownFact["kind"], key: row.key, value: row.value, firstSeen: row.first_seen, lookedAt: row.looked_at,
      isLearned: row.source === "learned",
    };
    facts.set(factName(fact), fact);
  }
  return facts;
}

/**
 * What a comparison has learned, as rows to be written. Who said that a fact is right stays with it; a value that it takes by itself is only
 * a finer word for the same.
 * @param rows The baseline's own facts.
 */
export function learnFacts(
  { baselineId, tenantId }: DifferenceOwner, { learned, forgotten }: Pick<Comparison, "learned" | "forgotten">, rows: readonly FactRow[],
  { mode, at }: { readonly mode: Mode; readonly at: string },
): FactChanges {
  const own = new Map(rows.map((row) => [factName(row as Pick<KnownFact, "kind" | "key">), row]));
  const put: FactRow[] = [];
  let count = own.size - forgotten.length;
  for (const seen of learned) {
    const { kind, key, value, lookedAt, scope } = seen;
    const row = own.get(factName(seen));
    if (row) {
      const isLater = Date.parse(lookedAt) - Date.parse(row.looked_at ?? "1970-01-01T00:00:00.000Z") >= RENEW_MS;
      if (row.value !== value || isLater) put.push({ ...row, value, looked_at: laterOf(lookedAt, row.looked_at), scope });
    } else if (mode !== "frozen" && count < MAX_BASELINE_FACTS) {
      count += 1;
      put.push({
        baseline_id: baselineId, tenant_id: tenantId, kind, key, value, source: "learned", author: null, reason: null, first_seen: at,
        looked_at: lookedAt || null, scope,
      });
    }
  }
  return { put, remove: forgotten.map(({ kind, key }) => ({ baseline_id: baselineId, kind, key })) };
}

function laterOf(a: string, b: string | null): string {
  return b !== null && b > a ? b : a;
}
