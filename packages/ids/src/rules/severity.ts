/** What the metadata of Emerging Threats and others say of a rule. */

import type { RuleSeverity } from "./rule.ts";

type Metadata = readonly (readonly [key: string, value: string])[];

const SEVERITIES: ReadonlyMap<string, RuleSeverity> = new Map([
  ["critical", "critical"], ["major", "high"], ["high", "high"], ["minor", "medium"], ["medium", "medium"], ["low", "low"], ["informational", "info"], ["info", "info"],
]);

/** @returns By `signature_severity`, else by the priority, of which 1 is the gravest. */
export function severityOf(metadata: Metadata, priority: number): RuleSeverity {
  const named = metadata.find(([key]) => key.toLowerCase() === "signature_severity")?.[1].toLowerCase() ?? "";
  const byPriority: RuleSeverity = priority <= 1 ? "high" : priority === 2 ? "medium" : priority === 3 ? "low" : "info";
  return SEVERITIES.get(named) ?? byPriority;
}

/** @returns ATT&CK ids of `mitre_technique_id` and `mitre_attack`, without doubles, in the order of the rule. */
export function techniquesOf(metadata: Metadata): readonly string[] {
  const found = metadata.filter(([key]) => /^mitre_(?:technique_id|attack)$/i.test(key)).flatMap(([, value]) => /^T\d{4}(?:[._]\d{3})?$/i.exec(value)?.[0].toUpperCase().replace("_", ".") ?? []);
  return [...new Set(found)];
}
