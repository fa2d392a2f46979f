/** What is decided at this machine and by the collector, as one. */
import { type DnsRules, rulesOfSite, type SitePolicy } from "@lanthorn/dns";
import type { FilterSettings, ListSettings } from "./settings.ts";

const EVERYONE = { kind: "everyone" } as const;

/** What the machine's own configuration says: one policy for everyone. */
export function localRules(lists: readonly ListSettings[], { blocked, allow, private_relay: privateRelay, browser_dns: browserDns }: FilterSettings): DnsRules {
  return {
    policies: [{
      id: "everyone", name: "everyone", scope: EVERYONE, mode: "enforce", answer: { kind: blocked }, privateRelay, browserDns,
      lists: lists.map(({ name, mode }) => ({ listId: name, mode, schedule: null })),
    }],
    allowances: allow.map((name) => ({ id: name, name, hasSubdomains: true, scope: EVERYONE, untilMs: null })),
    pauses: [], timeZones: {}, waitsForAnswer: false,
  };
}

/** The collector's policies have the machine's own lists as well; who has none of them has the machine's. */
export function joinRules(local: DnsRules, site: SitePolicy, siteId: string): DnsRules {
  const rules = rulesOfSite(site, siteId);
  const [own] = local.policies;
  const policies = rules.policies.map((policy) => ({
    ...policy, lists: [...policy.lists, ...(own?.lists ?? [])], privateRelay: own?.privateRelay === "block" ? own.privateRelay : policy.privateRelay,
    browserDns: own?.browserDns === "block" ? own.browserDns : policy.browserDns,
  }));
  return { ...rules, policies: [...policies, ...local.policies], allowances: [...rules.allowances, ...local.allowances] };
}
