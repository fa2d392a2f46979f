/** What operators decided, as one site has it. */
import { DNS_DAYS, type DnsBundlePolicy, type DnsBundleScope, type DnsPolicy } from "@lanthorn/contract";
import type { ListRow } from "../lists/store.ts";
import type { QuerySettingsRow } from "../queries/settings-store.ts";
import { toPolicy } from "./policies.ts";
import type { ScopeColumns } from "./scope.ts";
import type { DecisionRow, PoliciesStore, PolicyRow } from "./store.ts";

/** The list that rules by hand make. */
export const HAND_LIST = { id: "rules", name: "Blocked by hand", category: "custom" } as const;

/** What a tenant has decided. */
export interface TenantDecisions {
  readonly policies: readonly PolicyRow[];
  readonly decisions: readonly DecisionRow[];
  readonly querySettings: readonly Pick<QuerySettingsRow, "site_id" | "level">[];
}

const MAX_DEVICES = 10_000;

/** @param lists Those of the site that count, in their order. */
export async function composeSitePolicy(
  { policies, decisions, querySettings }: TenantDecisions, site: { readonly tenantId: string; readonly siteId: string; readonly lists: readonly Pick<ListRow, "id" | "category">[] }, store: Pick<PoliciesStore, "devices" | "addresses" | "vlanNetworks">,
): Promise<DnsBundlePolicy> {
  const { siteId, tenantId } = site;
  const isHere = (row: ScopeColumns) => row.site_id === null || row.site_id === siteId;
  const here = { policies: policies.filter(isHere), decisions: decisions.filter(isHere) };
  const hasHandList = here.decisions.some(({ kind }) => kind === "block");
  const listed = [...(hasHandList ? [HAND_LIST] : []), ...site.lists];
  const bundled = here.policies.map((row) => bundlePolicy(row, toPolicy(row), listed));
  const vlans = new Set([...here.policies, ...here.decisions].flatMap(({ vlan }) => vlan ?? []));
  const level = querySettings.find((row) => row.site_id === siteId)?.level ?? null;
  const networks = vlans.size === 0 ? [] : await store.vlanNetworks(tenantId, siteId, [...vlans]);
  return {
    v: 1, site_id: siteId,
    // What is blocked by hand is blocked without a policy, too.
    policies: hasHandList && !here.policies.some((row) => scopeOf(row).kind === "everyone") ? [...bundled, handPolicy()] : bundled,
    allowances: here.decisions.filter(({ kind }) => kind === "allow" || kind === "allowance").map((row) => ({
      id: row.id, name: row.name, has_subdomains: row.has_subdomains === 1, scope: scopeOf(row), until_ms: row.expires_at === null ? null : Date.parse(row.expires_at),
    })),
    pauses: here.decisions.flatMap((row) => (row.kind === "pause" && row.expires_at !== null ? [{ scope: scopeOf(row), until_ms: Date.parse(row.expires_at) }] : [])),
    devices: await devicesOf([...here.policies, ...here.decisions], siteId, store),
    ...(networks.length === 0 ? {} : { vlans: [...networks] }),
    ...(level === null ? {} : { queries: { level } }),
  };
}

/** The list that rules by hand make at a site, in the format `adblock`; empty for none. */
export function handListText(decisions: readonly DecisionRow[], siteId: string): string {
  return decisions.filter((row) => row.kind === "block" && (row.site_id === null || row.site_id === siteId))
    .map(({ name, has_subdomains: hasSubdomains }) => (hasSubdomains === 1 ? `||${name}^\n` : `|${name}^\n`)).join("");
}

function bundlePolicy(row: PolicyRow, policy: DnsPolicy, lists: readonly Pick<ListRow, "id" | "category">[]): DnsBundlePolicy["policies"][number] {
  const { id, name, mode, answer, sinkhole_ipv4, sinkhole_ipv6, private_relay, browser_dns } = policy;
  return {
    id, name, scope: scopeOf(row), mode, answer, sinkhole_ipv4, sinkhole_ipv6, private_relay, browser_dns,
    lists: lists.flatMap((list): DnsBundlePolicy["policies"][number]["lists"] => {
      if (policy.lists === null || list.id === HAND_LIST.id) return [{ list_id: list.id, mode: "enforce", schedule: null }];
      const choice = policy.lists.find((one) => one.list_id === list.id) ?? policy.lists.find((one) => one.category === list.category);
      return choice ? [{ list_id: list.id, mode: choice.mode, schedule: choice.schedule && bundleSchedule(choice.schedule) }] : [];
    }),
  };
}

function handPolicy(): DnsBundlePolicy["policies"][number] {
  return {
    id: HAND_LIST.id, name: HAND_LIST.name, scope: { kind: "everyone" }, mode: "enforce", answer: "nxdomain", sinkhole_ipv4: null, sinkhole_ipv6: null, private_relay: "allow", browser_dns: "allow",
    lists: [{ list_id: HAND_LIST.id, mode: "enforce", schedule: null }],
  };
}

function bundleSchedule({ time_zone, spans }: NonNullable<NonNullable<DnsPolicy["lists"]>[number]["schedule"]>) {
  return { time_zone, spans: spans.map(({ days, from, to }) => ({ days: days.map((day) => DNS_DAYS.indexOf(day)), from_minute: minuteOf(from), to_minute: minuteOf(to) })) };
}

function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

function scopeOf({ device_id: device, group_tag: group, site_id: site, vlan }: ScopeColumns): DnsBundleScope {
  if (device !== null) return { kind: "device", id: device };
  if (group !== null) return { kind: "group", id: group };
  if (site === null) return { kind: "everyone" };
  return vlan === null ? { kind: "site" } : { kind: "vlan", vlan };
}

/** Devices that scopes name, with the tags that scopes name. */
async function devicesOf(rows: readonly ScopeColumns[], siteId: string, store: Pick<PoliciesStore, "devices" | "addresses">): Promise<DnsBundlePolicy["devices"]> {
  const ids = new Set(rows.flatMap(({ device_id: id }) => id ?? []));
  const tags = new Set(rows.flatMap(({ group_tag: tag }) => tag ?? []));
  const found = (await store.devices(siteId, [...ids], tags.size > 0)).map((device) => ({ ...device, groups: device.groups.filter((tag) => tags.has(tag)) }))
    .filter(({ id, groups }) => ids.has(id) || groups.length > 0).slice(0, MAX_DEVICES);
  const addresses = await store.addresses(found.map(({ id }) => id));
  return found.map(({ id, name, groups }) => ({ id, name: name.slice(0, 255), groups, ips: [], macs: [], ...addresses.get(id) }));
}
