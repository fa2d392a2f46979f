/** Which rules of the sets hold for a record of a query. */
import { formatIp, parsePrefix, prefixHolds } from "@lanthorn/packets";
import type { ClientTerm, RuleConditions, RuleTrigger } from "../lists/list-rule.ts";
import type { ListFacts } from "../names/name-set-file.ts";
import type { NameHit, NameSet } from "../names/name-set.ts";
import type { StoredRule } from "../names/rule-table.ts";
import type { DnsClient, DnsQuery } from "./policy.ts";
import type { MatchedRecord, MatchedRule } from "./verdict.ts";

/** A list that a policy uses now. */
export interface ActiveList {
  readonly facts: ListFacts;
  readonly isObserved: boolean;
}

/** A set with the lists that count: by their place in it, null for those that do not. */
export interface ActiveSet {
  readonly set: NameSet;
  readonly lists: readonly (ActiveList | null)[];
  /** What the lists of each kind that count are compared with. */
  readonly triggers: Readonly<Record<ListFacts["kind"], ReadonlySet<RuleTrigger>>>;
}

/** A rule with where it was found. */
export interface Candidate {
  readonly stored: StoredRule;
  /** Of the sets, in the order of their lists. */
  readonly set: number;
  readonly above: number;
  readonly rule: MatchedRule;
}

/** What is compared: a name, or an address with its text. */
export interface Subject {
  readonly trigger: RuleTrigger;
  readonly record: MatchedRecord;
  /** Null for a name. */
  readonly address: Uint8Array | null;
}

/**
 * In a zone a name stands between a wildcard above it and the names below it, as in all of DNS: of each zone only the closest name counts.
 * @param kind Only rules of such lists.
 * @returns Rules that hold, the longest name or network first, then in the order of the lists.
 * @see RFC 4592 section 3.3.1
 */
export function findRules(sets: readonly ActiveSet[], kind: ListFacts["kind"], subject: Subject, query: DnsQuery): readonly Candidate[] {
  const found: Candidate[] = [];
  for (const [index, { set, lists, triggers }] of sets.entries()) {
    if (!triggers[kind].has(subject.trigger)) continue;
    const hits = subject.address === null ? set.find(subject.record.value) : set.findAddress(subject.address);
    const closed = new Set<number>();
    for (const hit of hits) {
      const rules = hit.rules.filter(({ list, trigger }) => trigger === subject.trigger && lists[list]?.facts.kind === kind && !closed.has(list));
      for (const stored of rules) {
        const list = lists[stored.list];
        if (kind === "rpz" && hit.above > 0 && subject.address === null) closed.add(stored.list);
        if (!list || !isInReach(stored, hit, subject)) continue;
        if (stored.body.conditions !== null && !conditionsHold(stored.body.conditions, subject.record.value, query)) continue;
        found.push({ stored, set: index, above: hit.above, rule: matchedRule(set, hit, stored, list, subject.record) });
      }
    }
  }
  return found.length > 1 ? found.toSorted((a, b) => a.above - b.above || a.set - b.set || a.stored.list - b.stored.list) : found;
}

function isInReach({ scope }: StoredRule, { above }: NameHit, { address }: Subject): boolean {
  return address !== null || (above === 0 ? scope !== "subdomains" : scope !== "exact");
}

function matchedRule(set: NameSet, hit: NameHit, { trigger, scope, body }: StoredRule, { facts, isObserved }: ActiveList, record: MatchedRecord): MatchedRule {
  return {
    listId: facts.id, listName: facts.name, category: facts.category, listKind: facts.kind, trigger, name: set.keyOf(hit), scope, effect: body.effect,
    isImportant: body.conditions?.isImportant === true, isObserved, firstSeenDay: hit.firstSeenDay, record,
  };
}

function conditionsHold({ types, areTypesExcluded, clients, exceptNames }: RuleConditions, name: string, query: DnsQuery): boolean {
  if (types.length > 0 && types.includes(query.type) === areTypesExcluded) return false;
  if (clients.length > 0 && !isWantedClient(clients, query.client)) return false;
  return !exceptNames.some((except) => isAtOrBelow(name, except));
}

/** Whoever is excluded is out; where others are named, only they are in. */
function isWantedClient(terms: readonly ClientTerm[], client: DnsClient): boolean {
  const wanted = terms.filter(({ isExcluded }) => !isExcluded);
  return !terms.some((term) => term.isExcluded && isClient(term.text, client)) && (wanted.length === 0 || wanted.some(({ text }) => isClient(text, client)));
}

function isClient(text: string, { address, names, deviceId }: DnsClient): boolean {
  if (names.includes(text) || text === deviceId || text === formatIp(address)) return true;
  const prefix = text.includes("/") ? parsePrefix(text) : null;
  return prefix !== null && prefixHolds(prefix, address, 0, address.length);
}

/** Whether a name is another one or lies below it. @param other In lower case. */
export function isAtOrBelow(name: string, other: string): boolean {
  const lower = name.toLowerCase();
  return lower === other || lower.endsWith(`.${other}`);
}
