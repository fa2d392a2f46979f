import { type HostState, IDENTITY_FIELDS } from "@lanthorn/contract/uplink";

/** Evidence of what a host is, or one of its keys. In memory only: once published, the collector stores it. */
export type HostFact = HostState["evidence"][number];

/** A fact when it is learned. */
export type SaidFact = Omit<HostFact, "seen_at">;

/** Of the contract's 64 pieces of evidence for a host; names and addresses need the others. */
const MAX_FACTS = 28;
const MAX_KEYS = 12;
/** A key is compared, not believed more or less. */
export const KEY_CONFIDENCE = 0.95;
/** What says the same again is seen again, which is worth writing down now and then. */
const REFRESH_MS = 6 * 3_600_000;

const KEY_FIELDS: ReadonlySet<string> = new Set(IDENTITY_FIELDS);
const isKey = ({ field }: Pick<HostFact, "field">) => KEY_FIELDS.has(field);

/** The newer of two facts of one field and source stays, two keys of one kind both do; the oldest leave. */
export function mergeFacts(known: readonly HostFact[], found: readonly HostFact[]): readonly HostFact[] {
  const same = (a: HostFact, b: HostFact) => a.field === b.field && a.source === b.source && (a.value === b.value || !isKey(b));
  const all = [...known.filter((one) => !found.some((other) => same(one, other))), ...found];
  return [...all.filter(isKey).slice(-MAX_KEYS), ...all.filter((one) => !isKey(one)).slice(-MAX_FACTS)];
}

/** Those of the facts that are not known yet, or were seen long ago. @param now Milliseconds since the epoch. */
export function newsOf(known: readonly HostFact[], facts: readonly SaidFact[], now: number): readonly SaidFact[] {
  return facts.filter(({ field, value, source, confidence }) => !known.some((one) =>
    one.field === field && one.source === source && one.value === value
      && one.confidence === confidence && now - Date.parse(one.seen_at) < REFRESH_MS));
}

/** As one text, to know whether to publish: what was seen again says nothing new. */
export function factsText(facts: readonly HostFact[]): string {
  return facts.map(({ field, value, source }) => `${field} ${source} ${value}`).toSorted().join("\n");
}
