import type { HostState } from "@lanthorn/contract";

/** What a host's services say of the host. In memory only: once told, the collector keeps it. */
export type ServiceFact = HostState["evidence"][number];

/** Of the contract's 64 pieces of evidence for a host; names and addresses need the others. */
const MAX_FACTS = 24;
/** A key is compared, not believed more or less. */
export const KEY_CONFIDENCE = 0.95;

/** The newer of two facts of one field and source stays, two keys of one kind both do; the oldest leave. */
export function mergeFacts(known: readonly ServiceFact[], found: readonly ServiceFact[]): readonly ServiceFact[] {
  const same = (a: ServiceFact, b: ServiceFact) => a.field === b.field && a.source === b.source && (a.value === b.value || b.confidence !== KEY_CONFIDENCE);
  return [...known.filter((one) => !found.some((other) => same(one, other))), ...found].slice(-MAX_FACTS);
}

/** As one text, to know whether the collector must be told: what was seen again says nothing new. */
export function factsText(facts: readonly ServiceFact[]): string {
  return facts.map(({ field, value, source }) => `${field} ${source} ${value}`).toSorted().join("\n");
}
