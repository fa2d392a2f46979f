import { CONFLICT_KINDS, type IpamConflicts, type IpamConflictsQuery } from "@lanthorn/contract";
import { addressOf } from "../../db/keys/address-range.ts";
import { requireSite } from "../../gateway/errors.ts";
import { type Finding, findConflictsAt } from "./store/conflicts.ts";
import { holdersOf } from "./store/observations.ts";
import type { IpamStore } from "./store/plan.ts";

/** What is wrong with a tenant's plan, by address. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
export async function listConflicts(
  store: IpamStore, tenantId: string,
  { page, per_page: perPage, cursor, site_id: siteId, kind: kinds = [...CONFLICT_KINDS] }: IpamConflictsQuery,
): Promise<IpamConflicts> {
  await requireSite(store, tenantId, siteId);
  const sites = (await store.sites(tenantId)).map(({ id }) => id).filter((id) => siteId === undefined || id === siteId);
  const { findings, truncated } = await findConflictsAt(store, tenantId, { kinds, sites });
  const all = findings.toSorted((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
  const rest = cursor === undefined ? all.slice((page - 1) * perPage) : all.filter((finding) => positionOf(finding) > cursor);
  const shown = rest.slice(0, perPage);
  const holders = await holdersOf(store.reads, tenantId, shown.map(({ ip_key: key }) => key), null);
  const last = rest.length > perPage ? shown.at(-1) : undefined;
  return {
    data: shown.map(({ ip_key: key, ...finding }) => ({
      ...finding, ip: addressOf(key), observed: (holders.get(key) ?? []).filter((holder) => holder.site_id === finding.site_id),
    })),
    meta: { page, per_page: perPage, total: all.length, next_cursor: last ? positionOf(last) : null },
    truncated,
  };
}

function positionOf({ ip_key: key, site_id: siteId, kind }: Finding): string {
  return `${key}.${siteId}.${kind}`;
}
