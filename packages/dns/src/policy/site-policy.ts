/** What an operator decided for one site, as a document that is kept and sent, and as the engine takes it. */
import type { DnsClient, DnsRules, PolicyAnswer, PolicyScope } from "./policy.ts";

type DocumentScope =
  | { readonly kind: "device" | "group"; readonly id: string } | { readonly kind: "vlan"; readonly vlan: number } | { readonly kind: "site" } | { readonly kind: "everyone" };

interface DocumentSchedule {
  readonly time_zone: string;
  readonly spans: readonly { readonly days: readonly number[]; readonly from_minute: number; readonly to_minute: number }[];
}

/** A device that scopes name, with the addresses that it has. */
export interface SiteDevice {
  readonly id: string;
  readonly name: string;
  readonly groups: readonly string[];
  readonly ips: readonly string[];
  /** Lower-case pairs with colons. */
  readonly macs: readonly string[];
}

/** A network of a VLAN, in CIDR notation. */
export interface VlanNetwork {
  readonly vlan: number;
  readonly network: string;
}

/** The document. Sites and VLANs are those of its site. */
export interface SitePolicy {
  readonly policies: readonly {
    readonly id: string; readonly name: string; readonly scope: DocumentScope; readonly mode: "enforce" | "observe"; readonly answer: PolicyAnswer["kind"];
    readonly sinkhole_ipv4: string | null; readonly sinkhole_ipv6: string | null; readonly private_relay: "allow" | "block"; readonly browser_dns: "allow" | "block";
    readonly lists: readonly { readonly list_id: string; readonly mode: "enforce" | "observe"; readonly schedule: DocumentSchedule | null }[];
  }[];
  readonly allowances: readonly { readonly id: string; readonly name: string; readonly has_subdomains: boolean; readonly scope: DocumentScope; readonly until_ms: number | null }[];
  readonly pauses: readonly { readonly scope: DocumentScope; readonly until_ms: number }[];
}

/** @param siteId By which the clients of the site are known. */
export function rulesOfSite({ policies, allowances, pauses }: SitePolicy, siteId: string): DnsRules {
  const scopeOf = (scope: DocumentScope): PolicyScope => {
    if (scope.kind === "vlan") return { kind: "vlan", siteId, vlanId: scope.vlan };
    return scope.kind === "site" ? { kind: "site", id: siteId } : scope;
  };
  return {
    policies: policies.map(({ id, name, scope, mode, answer, sinkhole_ipv4: ipv4, sinkhole_ipv6: ipv6, private_relay: privateRelay, browser_dns: browserDns, lists }) => ({
      id, name, scope: scopeOf(scope), mode, answer: answer === "sinkhole" ? { kind: answer, ipv4, ipv6 } : { kind: answer }, privateRelay, browserDns,
      lists: lists.map(({ list_id: listId, mode: listMode, schedule }) => ({ listId, mode: listMode, schedule: schedule && scheduleOf(schedule) })),
    })),
    allowances: allowances.map(({ id, name, has_subdomains: hasSubdomains, scope, until_ms: untilMs }) => ({ id, name, hasSubdomains, scope: scopeOf(scope), untilMs })),
    pauses: pauses.map(({ scope, until_ms: untilMs }) => ({ scope: scopeOf(scope), untilMs })),
    timeZones: {}, waitsForAnswer: false,
  };
}

function scheduleOf({ time_zone: timeZone, spans }: DocumentSchedule) {
  return { timeZone, spans: spans.map(({ days, from_minute: fromMinute, to_minute: toMinute }) => ({ days, fromMinute, toMinute })) };
}

/** A client that is known to be this device. */
export function clientOfDevice(device: Pick<SiteDevice, "id" | "name" | "groups">, client: DnsClient): DnsClient {
  return { ...client, deviceId: device.id, groupIds: device.groups, names: device.name === "" ? client.names : [device.name] };
}
