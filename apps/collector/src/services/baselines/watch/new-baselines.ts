import { createId, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import type { Schema } from "../../../db/schema.ts";
import { addBaselines, type BaselineRow, baselinesOfDevices, baselinesOfSites } from "../store/baselines.ts";
import { devicesOf } from "../store/inventory.ts";

/** For so long a new baseline learns. */
const LEARNING_MS = 24 * 3_600_000;

/** A baseline that knows nothing yet. @param scope The device's id; empty for the site's own. */
function newBaseline(of: { readonly tenantId: string; readonly siteId: string; readonly deviceId: string | null }, learningUntil: string, at: string): BaselineRow {
  return {
    id: createId(), tenant_id: of.tenantId, site_id: of.siteId, device_id: of.deviceId, scope: of.deviceId ?? "", state: "learning",
    learning_until: learningUntil, learned_at: null, approved_by: null, approved_at: null, settings: "{}", presence: "", scopes: "", compare_at: at,
    created_at: at, updated_at: at,
  };
}

/** Makes baselines of sites that have none. */
export async function addSites(db: Kysely<Schema>, tenantId: string, siteIds: readonly string[], now: number): Promise<void> {
  await inTurn(db, tenantId, (trx) => addSitesIn(trx, tenantId, siteIds, now));
}

async function addSitesIn(trx: Transaction<Schema>, tenantId: string, siteIds: readonly string[], now: number): Promise<readonly BaselineRow[]> {
  const there = await baselinesOfSites(trx, siteIds);
  const known = new Set(there.map(({ site_id: site }) => site));
  const added = siteIds.filter((id) => !known.has(id))
    .map((siteId) => newBaseline({ tenantId, siteId, deviceId: null }, toInstant(now + LEARNING_MS), toInstant(now)));
  await addBaselines(trx, added);
  return [...there, ...added];
}

/**
 * Makes baselines of devices that have none, and of their sites. At a site that still learns, a device learns as long as its site does;
 * later it learns for a day: that it is new is one difference of the site, and not thirty of its own.
 */
export async function addDevices(deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }, tenantId: string, ids: readonly string[], now: number): Promise<void> {
  if (ids.length === 0) return;
  const known = new Set((await baselinesOfDevices(deps.reads, ids)).map(({ device_id: id }) => id));
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length === 0) return;
  await inTurn(deps.db, tenantId, async (trx) => {
    const there = new Set((await baselinesOfDevices(trx, missing)).map(({ device_id: id }) => id));
    const unique = new Map((await devicesOf(trx, missing)).map((row) => [row.id, row]));
    const fresh = [...unique.values()].filter(({ id }) => !there.has(id));
    const sites = new Map((await addSitesIn(trx, tenantId, [...new Set(fresh.map(({ site_id: site }) => site))], now)).map((row) => [row.site_id, row]));
    await addBaselines(trx, fresh.map(({ id, site_id: siteId }) => {
      const site = sites.get(siteId);
      const until = site?.state === "learning" ? site.learning_until : null;
      return newBaseline({ tenantId, siteId, deviceId: id }, until ?? toInstant(now + LEARNING_MS), toInstant(now));
    }));
  });
}
