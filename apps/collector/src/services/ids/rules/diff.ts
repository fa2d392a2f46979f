import { type RuleContent, type RuleRecord, ruleKey } from "./records.ts";

/** A rule that differs between two versions. */
export interface RuleDifference {
  readonly change: "added" | "removed" | "changed" | "newly_refused";
  readonly generator_id: number;
  readonly signature_id: number;
  readonly signature: string;
  readonly revision_before: number | null;
  readonly revision: number | null;
  readonly reason: string | null;
}

/** How two versions differ. `newly_refused` are among the added and changed. */
export interface RulesDiff {
  readonly counts: Readonly<Record<RuleDifference["change"], number>>;
  /** At most `MAX_DIFFERENCES`, by number. */
  readonly differences: readonly RuleDifference[];
}

const MAX_DIFFERENCES = 20_000;

/** @param before Null where there was nothing. */
export function compareRules(before: Pick<RuleContent, "rules"> | null, after: Pick<RuleContent, "rules">): RulesDiff {
  const old = new Map((before?.rules ?? []).map((record) => [ruleKey(record), record]));
  const fresh = new Map(after.rules.map((record) => [ruleKey(record), record]));
  const differences: RuleDifference[] = [];
  const counts = { added: 0, removed: 0, changed: 0, newly_refused: 0 };
  const note = (change: RuleDifference["change"], was: RuleRecord | undefined, is: RuleRecord | undefined) => {
    counts[change] += 1;
    const one = is ?? was;
    if (!one || differences.length >= MAX_DIFFERENCES) return;
    differences.push({
      change, generator_id: one.gid, signature_id: one.sid, signature: one.message, revision_before: was?.revision ?? null, revision: is?.revision ?? null,
      reason: is?.refusal ? `${is.refusal.keyword}: ${is.refusal.reason}` : null,
    });
  };
  for (const [key, is] of fresh) {
    const was = old.get(key);
    const isNew = is.isOn && is.refusal !== null && !(was?.isOn === true && was.refusal !== null);
    if (!was) note("added", was, is);
    else if (was.text !== is.text || was.isOn !== is.isOn) note("changed", was, is);
    if (isNew) note("newly_refused", was, is);
  }
  for (const [key, was] of old) if (!fresh.has(key)) note("removed", was, undefined);
  return { counts, differences: differences.toSorted((a, b) => a.generator_id - b.generator_id || a.signature_id - b.signature_id) };
}
