import type { Transaction } from "kysely";
import { selectIn } from "../../db/query/select-in.ts";
import type { Schema } from "../../db/schema.ts";

/** Addresses of decoys by site, of probes that are not revoked. Sites without decoys are not there. */
export async function readDecoyAddresses(trx: Transaction<Schema>, siteIds: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await selectIn(siteIds, (list) => trx.selectFrom("honeypot_addresses").innerJoin("probes", "probes.id", "honeypot_addresses.probe_id").select(["honeypot_addresses.site_id", "ip"])
    .where("honeypot_addresses.site_id", "in", list).where("probes.revoked_at", "is", null).execute());
  const bySite = new Map<string, Set<string>>();
  for (const { site_id: siteId, ip } of rows) bySite.set(siteId, (bySite.get(siteId) ?? new Set()).add(ip));
  return bySite;
}
