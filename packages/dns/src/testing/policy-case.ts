import type { NameSet } from "../names/name-set.ts";
import { type AnswerFacts } from "../policy/answer-facts.ts";
import type { DnsClient, DnsQuery, DnsRules, Policy } from "../policy/policy.ts";
import type { Verdict, VerdictStep } from "../policy/verdict.ts";
import { createVerdictEngine } from "../policy/verdict-engine.ts";
import { buildSet, type TestList } from "./read-list.ts";

/** Monday, 4 March 2024, 12:00 UTC. */
export const NOON = Date.UTC(2024, 2, 4, 12);

/** A tablet in a group and a VLAN. */
export const TABLET: DnsClient = { deviceId: "tablet", groupIds: ["children"], vlanId: 20, siteId: "home", address: Uint8Array.of(192, 0, 2, 20), names: ["Tim's tablet"] };

/** A policy for everyone with all of a set's lists. */
export function policyFor(set: NameSet, changes: Partial<Policy> = {}): Policy {
  return {
    id: "all", name: "Everyone", scope: { kind: "everyone" }, mode: "enforce", lists: set.lists.map(({ id }) => ({ listId: id, mode: "enforce", schedule: null })),
    answer: { kind: "nxdomain" }, privateRelay: "allow", browserDns: "allow", ...changes,
  };
}

/** What a test changes of the usual. */
export interface CaseChanges {
  readonly rules?: (set: NameSet) => Partial<DnsRules>;
  readonly policy?: Partial<Policy>;
  readonly query?: Partial<DnsQuery>;
  readonly answer?: Partial<AnswerFacts> | null;
}

/** Judges a name of type A by the lists; with an answer, unless the question decides. */
export function judge(lists: readonly TestList[], name: string, changes: CaseChanges = {}): Verdict & { readonly steps: readonly VerdictStep[] } {
  const set = buildSet(lists);
  const rules: DnsRules = { policies: [policyFor(set, changes.policy)], allowances: [], pauses: [], timeZones: {}, waitsForAnswer: false, ...changes.rules?.(set) };
  const engine = createVerdictEngine([set], rules);
  const query: DnsQuery = { name, type: 1, client: TABLET, atMs: NOON, isUdp: true, ...changes.query };
  const steps: VerdictStep[] = [];
  const question = engine.judgeQuestion(query, (step) => steps.push(step));
  if (!changes.answer) return { ...question, steps };
  const answer: AnswerFacts = { names: [], addresses: [], nameServers: [], ...changes.answer };
  return { ...engine.judgeAnswer(query, question, answer, (step) => steps.push(step)), steps };
}
