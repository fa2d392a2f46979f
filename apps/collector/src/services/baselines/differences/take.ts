import type { FactRow } from "../store/facts.ts";
import type { DifferenceRow } from "../store/differences.ts";

/** What a baseline has when a difference has become part of it. @returns The value; null where the fact goes. */
export function valueTaken({ kind, outcome, observed, expected }: Pick<DifferenceRow, "kind" | "outcome" | "observed" | "expected">): string | null {
  if (outcome === "gone") return null;
  // The usual hours are what they are: they follow by themselves.
  if (outcome === "not_checked" || kind === "presence") return expected;
  return kind === "port" ? "open" : observed;
}

/** The fact that a difference becomes. @param by Where it comes from, and who said why. @returns Null where it goes, or was only not checked. */
export function factTaken(row: DifferenceRow, by: Pick<FactRow, "source" | "author" | "reason">, at: string): FactRow | null {
  const value = row.outcome === "not_checked" ? null : valueTaken(row);
  return value === null ? null : {
    baseline_id: row.baseline_id, tenant_id: row.tenant_id, kind: row.kind, key: row.key, value, ...by, first_seen: at, looked_at: row.observed_at,
    scope: "",
  };
}
