import { formatKey, parseHostName } from "@lanthorn/dns";
import { notFound, requireSite } from "../../../gateway/errors.ts";
import { badRequest } from "../../../gateway/route.ts";
import type { PoliciesStore } from "./store.ts";

/** For whom something is wished; everyone where all are left out. */
export interface ScopeWish {
  readonly device_id?: string | undefined;
  readonly group?: string | undefined;
  readonly site_id?: string | undefined;
  readonly vlan?: number | undefined;
}

/** How a scope is stored. */
export interface ScopeColumns {
  readonly device_id: string | null;
  readonly group_tag: string | null;
  readonly site_id: string | null;
  readonly vlan: number | null;
}

/** As it is stored. */
export function scopeColumns({ device_id: device, group, site_id: site, vlan }: ScopeWish): ScopeColumns {
  return { device_id: device ?? null, group_tag: group ?? null, site_id: site ?? null, vlan: vlan ?? null };
}

/** As the API shows it. */
export function shownScope({ device_id, group_tag: group, site_id, vlan }: ScopeColumns) {
  return { device_id, group, site_id, vlan };
}

/** @throws ApiError NOT_FOUND for a site or device that the tenant does not have. */
export async function requireScope(store: Pick<PoliciesStore, "siteExists" | "device">, tenantId: string, { device_id: device, site_id: site }: ScopeWish): Promise<void> {
  await requireSite(store, tenantId, site);
  if (device !== undefined && !(await store.device(tenantId, device))) throw notFound("device");
}

/** A name as it is stored and compared. @throws ApiError BAD_REQUEST for what is none. */
export function requireName(name: string, field: string): string {
  const key = parseHostName(name);
  if (key === null) throw badRequest([{ path: [field], message: "must be a name as shop.example" }]);
  return formatKey(key);
}
