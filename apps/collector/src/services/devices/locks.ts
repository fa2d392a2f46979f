import type { Transaction } from "kysely";
import { holdSite } from "../../db/locks/hold-site.ts";
import type { Schema } from "../../db/schema.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { mergedInto } from "../../identity/merging/merged-into-store.ts";
import { holdDevice, someSites } from "./store/holds.ts";
import type { DeviceRow } from "./store/pages.ts";

type Trx = Transaction<Schema>;

/**
 * Holds a site's row until the end of the transaction: of two who make the same device at once, the second finds the first's.
 * @param siteId May be left out where the tenant has one site.
 * @throws ApiError NOT_FOUND for a site that the tenant does not have; BAD_REQUEST where it must be said and is not.
 */
export async function lockSite(trx: Trx, tenantId: string, siteId: string | undefined): Promise<string> {
  if (siteId === undefined) {
    const [only, another] = await someSites(trx, tenantId);
    if (only === undefined) throw badRequest([{ path: ["site_id"], message: "there is no site yet: create one first" }]);
    if (another !== undefined) throw badRequest([{ path: ["site_id"], message: "needed where there is more than one site" }]);
    return lockSite(trx, tenantId, only);
  }
  if (!(await holdSite(trx, tenantId, siteId))) throw notFound("site");
  return siteId;
}

/** A device, its site held. @throws ApiError NOT_FOUND. */
export async function lockDevice(trx: Trx, tenantId: string, deviceId: string): Promise<DeviceRow> {
  const row = await holdDevice(trx, tenantId, deviceId);
  if (!row) throw deviceNotFound(await mergedInto(trx, tenantId, deviceId));
  return row;
}

/**
 * 404, which says in `details.merged_into` of a device that was merged where it is now.
 * @param keptId The device that it is a part of; null for none.
 */
export function deviceNotFound(keptId: string | null): ApiError {
  if (keptId === null) return notFound("device");
  return new ApiError("NOT_FOUND", "this device was merged into another one", { details: { merged_into: keptId } });
}
