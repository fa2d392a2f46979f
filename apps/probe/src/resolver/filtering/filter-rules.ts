/** What is decided at this machine and by the collector, as one. */
import { clientOfDevice, type DnsClient, type DnsRules, rulesOfSite, type SiteDevice, type SitePolicy } from "@lanthorn/dns";
import { parseIp } from "@lanthorn/packets";
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

/** Finds who a client is by what the collector says of devices. */
export function createClientFinder(devices: readonly SiteDevice[], siteId: string): (client: DnsClient) => DnsClient {
  const byId = new Map(devices.map((device) => [device.id, device]));
  const byAddress = new Map(devices.flatMap((device) => device.ips.flatMap((ip): [string, SiteDevice][] => {
    const bytes = parseIp(ip);
    return bytes ? [[keyOf(bytes), device]] : [];
  })));
  return (client) => {
    // Whoever knows the device by more than its address is right.
    const byKey = byAddress.size === 0 ? undefined : byAddress.get(keyOf(client.address));
    const device = client.deviceId === null ? byKey : byId.get(client.deviceId);
    if (!device) return client.siteId === siteId ? client : { ...client, siteId };
    const known = clientOfDevice(device, client);
    return { ...known, siteId, groupIds: client.groupIds.length > 0 ? client.groupIds : known.groupIds, names: client.names.length > 0 ? client.names : known.names };
  };
}

/** One character a byte. */
function keyOf(address: Uint8Array): string {
  return String.fromCodePoint(...address);
}
