import type { Kysely } from "kysely";
import { selectIn } from "../../db/query/select-in.ts";
import type { Schema } from "../../db/schema.ts";

/** What is counted of a site: `kind` says which of the others counts. */
interface SiteCount {
  readonly site_id: string;
  readonly kind: "devices" | "alerts" | "probes";
  /** `1` or `0` for online, the severity, or the state. */
  readonly value: string;
  readonly total: number;
}

/** Counts of sites, as triggers keep them of devices, and of open alerts and probes that are not revoked. */
export async function countAtSites(reads: Kysely<Schema>, tenantId: string, siteIds: readonly string[]): Promise<readonly SiteCount[]> {
  const devices = await selectIn(siteIds, (list) => reads.selectFrom("device_counts").select(["site_id", "is_online", "devices"])
    .where("tenant_id", "=", tenantId).where("site_id", "in", list).execute());
  const alerts = await selectIn(siteIds, (list) => reads.selectFrom("alerts").select((eb) => ["site_id", "severity", eb.fn.countAll<number>().as("total")])
    .where("tenant_id", "=", tenantId).where("status", "=", "open").where("site_id", "in", list).groupBy(["site_id", "severity"]).execute());
  const probes = await selectIn(siteIds, (list) => reads.selectFrom("probes").select((eb) => ["site_id", "state", eb.fn.countAll<number>().as("total")])
    .where("tenant_id", "=", tenantId).where("revoked_at", "is", null).where("site_id", "in", list).groupBy(["site_id", "state"]).execute());
  return [
    ...devices.map((row): SiteCount => ({ site_id: row.site_id, kind: "devices", value: String(row.is_online), total: row.devices })),
    ...alerts.map(({ site_id, severity, total }): SiteCount => ({ site_id: site_id ?? "", kind: "alerts", value: severity, total })),
    ...probes.map(({ site_id, state, total }): SiteCount => ({ site_id, kind: "probes", value: state, total })),
  ];
}
