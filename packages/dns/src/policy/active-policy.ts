/** Which policy and which of its lists count for a query. */
import type { NameSet } from "../names/name-set.ts";
import type { DnsClient, DnsQuery, DnsRules, ListChoice, Policy } from "./policy.ts";
import type { ActiveList, ActiveSet } from "./rule-match.ts";
import { createLocalTimes, type Schedule } from "./schedule.ts";
import { isInScope, orderPolicies } from "./scope.ts";

/** A policy with the lists of each set that it uses now. */
export interface ActivePolicy {
  readonly policy: Policy;
  readonly sets: readonly ActiveSet[];
  /** Whether one of the lists is a response policy zone: where none is, nothing is compared with them. */
  readonly hasZones: boolean;
}

/** Finds the policy of a client. */
export interface PolicyFinder {
  /** @returns Null where no policy is for the client. */
  find(query: DnsQuery): ActivePolicy | null;
}

interface PreparedPolicy {
  readonly policy: Policy;
  readonly choices: ReadonlyMap<string, ListChoice>;
  readonly hasSchedules: boolean;
  /** Of a policy without schedules: always the same. */
  readonly always: ActivePolicy | null;
}

/** @param sets Stay in their order. */
export function createPolicyFinder(sets: readonly NameSet[], rules: Pick<DnsRules, "policies" | "timeZones">): PolicyFinder {
  const times = createLocalTimes();
  const prepared = orderPolicies(rules.policies).map((policy): PreparedPolicy & { readonly scope: Policy["scope"] } => {
    const choices = new Map(policy.lists.map((choice) => [choice.listId, choice]));
    const hasSchedules = policy.lists.some(({ schedule }) => schedule !== null);
    return { policy, scope: policy.scope, choices, hasSchedules, always: hasSchedules ? null : activate(sets, policy, choices, () => true) };
  });
  const zoneOf = ({ siteId }: DnsClient) => (Object.hasOwn(rules.timeZones, siteId) ? (rules.timeZones[siteId] as string) : "UTC");

  return {
    find(query) {
      const found = prepared.find(({ scope }) => isInScope(scope, query.client));
      if (!found) return null;
      return found.always ?? activate(sets, found.policy, found.choices, (schedule) => times.isActive(schedule, schedule.timeZone ?? zoneOf(query.client), query.atMs));
    },
  };
}

function activate(sets: readonly NameSet[], policy: Policy, choices: ReadonlyMap<string, ListChoice>, isNow: (schedule: Schedule) => boolean): ActivePolicy {
  const active = sets.map((set): ActiveSet => {
    const lists = set.lists.map((facts): ActiveList | null => {
      const choice = choices.get(facts.id);
      if (!choice || (choice.schedule !== null && !isNow(choice.schedule))) return null;
      return { facts, isObserved: policy.mode === "observe" || choice.mode === "observe" };
    });
    const triggersOf = (kind: ActiveList["facts"]["kind"]) => new Set(lists.flatMap((list, index) => (list?.facts.kind === kind ? [...(set.triggers[index] ?? [])] : [])));
    return { set, lists, triggers: { filter: triggersOf("filter"), rpz: triggersOf("rpz") } };
  });
  return { policy, sets: active, hasZones: active.some(({ triggers }) => triggers.rpz.size > 0) };
}
