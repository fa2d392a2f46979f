import type { DnsAllowanceCreate, DnsCheck, DnsCheckQuery } from "@lanthorn/contract";
import { createClientFinder, type DnsClient, type MatchedRule, rulesOfSite } from "@lanthorn/dns";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { isIPv4 } from "node:net";
import { CollectorError } from "../../errors.ts";
import { ApiError, notFound, requireSite } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { loadSiteLists, readTenantDns, siteDnsOf } from "./bundles/site-content.ts";
import type { ListsStore } from "./lists/store.ts";
import type { NamesThread } from "./names/names-thread.ts";
import type { Judgement } from "./names/tasks.ts";
import { requireName } from "./policies/scope.ts";
import type { DeviceFacts, PoliciesStore } from "./policies/store.ts";
import type { QuerySettingsStore } from "./queries/settings-store.ts";

/** Judges names as resolvers do. */
export interface CheckService {
  /** @throws ApiError NOT_FOUND for a site or device that the tenant does not have; BAD_REQUEST where a site must be named; SERVICE_UNAVAILABLE while the lists cannot be read. */
  check(tenantId: string, query: DnsCheckQuery): Promise<DnsCheck>;
  /** The name that must be allowed for another to resolve; null where none would help, or where the lists cannot be read now. */
  blockedName(tenantId: string, wish: DnsAllowanceCreate): Promise<string | null>;
}

const A = 1;
const DAY_MS = 86_400_000;
const NO_ADDRESS = new Uint8Array(4);

/** Over the same lists and decisions that bundles are made of. */
export function createCheckService({ lists, policies, querySettings, thread, clock }: {
  readonly lists: ListsStore; readonly policies: PoliciesStore; readonly querySettings: Pick<QuerySettingsStore, "all">; readonly thread: Pick<NamesThread, "judge">; readonly clock: Pick<Clock, "now">;
}): CheckService {
  const judge = async (tenantId: string, { name, type, chain, siteId, device }: { readonly name: string; readonly type: number; readonly chain: readonly string[]; readonly siteId: string; readonly device: DeviceFacts | null }) => {
    const atMs = clock.now();
    const site = await siteDnsOf(await readTenantDns({ lists, policies, querySettings }, tenantId, toInstant(atMs)), siteId, policies);
    const client: DnsClient = { deviceId: device?.id ?? null, groupIds: device?.groups ?? [], vlanId: null, siteId, address: addressOf(device), names: device ? [device.name] : [] };
    const judgement = await thread.judge({
      key: `${siteId} ${site.namesKey}`, rules: rulesOfSite(site.policy, siteId), chain, query: { name, type, atMs, isUdp: true, client: createClientFinder({ siteId, devices: site.policy.devices, vlans: site.policy.vlans })(client) },
    }, () => loadSiteLists(site, lists));
    return { judgement, policyName: site.policy.policies.find(({ id }) => id === judgement.verdict.policyId)?.name ?? null };
  };
  const placeOf = async (tenantId: string, { device_id: deviceId, site_id: wanted }: { readonly device_id?: string | undefined; readonly site_id?: string | undefined }) => {
    await requireSite(policies, tenantId, wanted);
    const device = deviceId === undefined ? null : await policies.device(tenantId, deviceId);
    if (deviceId !== undefined && device === null) throw notFound("device");
    const sites = await policies.sites(tenantId);
    return { device, siteId: wanted ?? device?.site_id ?? (sites.length === 1 ? sites[0] : undefined), sites };
  };
  return {
    async check(tenantId, query) {
      const { device, siteId } = await placeOf(tenantId, query);
      if (siteId === undefined) throw badRequest([{ path: ["site_id"], message: "is needed where there is no device and not one site alone" }]);
      const name = requireName(query.name, "name");
      const chain = (query.cname ?? "").split(",").filter((one) => one.trim() !== "").map((one) => requireName(one.trim(), "cname"));
      const found = await judge(tenantId, { name, type: query.type, chain, siteId, device }).catch((cause: unknown) => {
        throw cause instanceof CollectorError ? new ApiError("SERVICE_UNAVAILABLE", "the lists could not be read now; try again in some seconds", { cause }) : cause;
      });
      return toCheck(found.judgement, { name, siteId, deviceId: device?.id ?? null, policyName: found.policyName });
    },

    async blockedName(tenantId, wish) {
      const { device, siteId, sites } = await placeOf(tenantId, wish);
      const at = siteId ?? sites[0];
      if (at === undefined) return null;
      const chain = (wish.cname ?? []).map((one) => requireName(one, "cname"));
      try {
        return (await judge(tenantId, { name: wish.name, type: A, chain, siteId: at, device })).judgement.verdict.allowName;
      } catch (error) {
        if (error instanceof CollectorError) return null;
        throw error;
      }
    },
  };
}

function addressOf(device: DeviceFacts | null): Uint8Array {
  return device && isIPv4(device.ip) ? Uint8Array.from(device.ip.split(".").map(Number)) : NO_ADDRESS;
}

function toCheck({ verdict, steps }: Judgement, { name, siteId, deviceId, policyName }: { readonly name: string; readonly siteId: string; readonly deviceId: string | null; readonly policyName: string | null }): DnsCheck {
  const { action, reason, answer, extendedError, policyId, rule, observed, matches, allowName } = verdict;
  return {
    name, site_id: siteId, device_id: deviceId, action, reason, answer: answer && answer.kind, extended_error: extendedError && `${extendedError.code}: ${extendedError.text}`, policy_id: policyId,
    policy: policyName, rule: rule && toMatched(rule), observed: observed && toMatched(observed), matches: matches.map(toMatched), allow_name: allowName,
    steps: steps.map(({ step, record, text }) => ({ step, record: record && record.value, text })),
  };
}

function toMatched({ listId, listName, category, name, record, effect, isObserved, firstSeenDay }: MatchedRule): DnsCheck["matches"][number] {
  return {
    list_id: listId, list: listName, category, rule: name, record: record.value, section: record.section, effect: effect.kind, is_observed: isObserved,
    first_seen: toInstant(firstSeenDay * DAY_MS).slice(0, 10),
  };
}
