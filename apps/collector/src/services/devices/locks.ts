import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { mergedInto } from "../../identity/merged-into.ts";
import type { DeviceRow } from "./pages.ts";

type Trx = Transaction<Schema>;

/**
 * Holds a site's row until the end of the transaction: of two who make the same device at once, the second finds the first's.
 * @param siteId May be left out where the tenant has one site.
 * @throws ApiError NOT_FOUND for a site that the tenant does not have; BAD_REQUEST where it must be said and is not.
 */
export async function lockSite(trx: Trx, tenantId: string, siteId: string | undefined): Promise<string> {
  if (siteId === undefined) {
    const [only, another] = await trx.selectFrom("sites").select("id").where("tenant_id", "=", tenantId).limit(2).execute();
    if (!only) throw badRequest([{ path: ["site_id"], message: "there is no site yet: make one first" }]);
    if (another) throw badRequest([{ path: ["site_id"], message: "needed where there is more than one site" }]);
    return lockSite(trx, tenantId, only.id);
  }
  const site = await trx.updateTable("sites").set((eb) => ({ name: eb.ref("name") }))
    .where("tenant_id", "=", tenantId).where("id", "=", siteId).returning("id").executeTakeFirst();
  if (!site) throw notFound("site");
  return site.id;
}

/** A device, its site held. @throws ApiError NOT_FOUND. */
export async function lockDevice(trx: Trx, tenantId: string, deviceId: string): Promise<DeviceRow> {
  const find = () => trx.selectFrom("devices").selectAll().where("tenant_id", "=", tenantId).where("id", "=", deviceId).executeTakeFirst();
  const found = await find();
  if (found) await lockSite(trx, tenantId, found.site_id);
  const row = found && await find();
  if (!row) throw await deviceNotFound(trx, tenantId, deviceId);
  return row;
}

/** 404, which says in `details.merged_into` of a device that was merged where it is now. */
export async function deviceNotFound(db: Kysely<Schema>, tenantId: string, deviceId: string): Promise<ApiError> {
  const keptId = await mergedInto(db, tenantId, deviceId);
  if (keptId === null) return notFound("device");
  return new ApiError("NOT_FOUND", "this device was merged into another one", { details: { merged_into: keptId } });
}
