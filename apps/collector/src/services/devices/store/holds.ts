import type { Transaction } from "kysely";
import { holdSite } from "../../../db/locks/hold-site.ts";
import type { Schema } from "../../../db/schema.ts";
import type { DeviceRow } from "./pages.ts";

type Trx = Transaction<Schema>;

/** The ids of a tenant's sites, at most two. */
export async function someSites(trx: Trx, tenantId: string): Promise<readonly string[]> {
  return (await trx.selectFrom("sites").select("id").where("tenant_id", "=", tenantId).limit(2).execute()).map(({ id }) => id);
}

/** A device, its site held. @returns Null for one that the tenant does not have. */
export async function holdDevice(trx: Trx, tenantId: string, deviceId: string): Promise<DeviceRow | null> {
  const find = () => trx.selectFrom("devices").selectAll().where("tenant_id", "=", tenantId).where("id", "=", deviceId).executeTakeFirst();
  const found = await find();
  if (!found || !(await holdSite(trx, tenantId, found.site_id))) return null;
  return (await find()) ?? null;
}
