/**
 * The precedence among response policy zones: the place in the chain of CNAMEs; then the zone; then the kind of trigger (client-IP, QNAME, IP,
 * NSDNAME, NSIP); then the exact name or the longest wildcard, the longest prefix, the smallest address.
 * @see draft-vixie-dnsop-dns-rpz section 5
 */
import type { RuleTrigger } from "../lists/list-rule.ts";
import type { DnsQuery } from "./policy.ts";
import { type ActiveSet, type Candidate, findRules, type Subject } from "./rule-match.ts";

const ORDER: readonly RuleTrigger[] = ["client-ip", "qname", "ip", "nsdname", "nsip"];

/** What one place in the chain offers. */
export type Place = readonly Subject[];

/** The rules of one zone that decide; all of them where they are records of one trigger. */
export interface ZoneMatch {
  readonly set: number;
  readonly list: number;
  readonly trigger: RuleTrigger;
  readonly candidates: readonly Candidate[];
}

/** @returns A match of each zone that has one at this place, in the order of the zones. */
export function matchZones(sets: readonly ActiveSet[], place: Place, query: DnsQuery): readonly ZoneMatch[] {
  const found = place.map((subject) => ({ subject, candidates: findRules(sets, "rpz", subject, query) })).filter(({ candidates }) => candidates.length > 0);
  if (found.length === 0) return [];
  const zones = sets.flatMap(({ lists }, set) => lists.flatMap((list, index) => (list?.facts.kind === "rpz" ? [{ set, list: index }] : [])));
  return zones.flatMap(({ set, list }) => {
    for (const trigger of ORDER) {
      const ofTrigger = found.filter(({ subject }) => subject.trigger === trigger)
        .map(({ subject, candidates }) => ({ subject, candidates: closest(candidates.filter((one) => one.set === set && one.stored.list === list)) }))
        .filter(({ candidates }) => candidates.length > 0);
      const [best] = ofTrigger.toSorted((a, b) => (a.candidates[0]?.above ?? 0) - (b.candidates[0]?.above ?? 0) || compareAddresses(a.subject, b.subject));
      if (best) return [{ set, list, trigger, candidates: best.candidates }];
    }
    return [];
  });
}

/** All records of the closest name or network. */
function closest(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ above }) => above === candidates[0]?.above);
}

function compareAddresses(a: Subject, b: Subject): number {
  const [one, other] = [a.address ?? [], b.address ?? []];
  if (one.length !== other.length) return one.length - other.length;
  for (const [index, byte] of one.entries()) if (byte !== other[index]) return byte - (other[index] ?? 0);
  return 0;
}
