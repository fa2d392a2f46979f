import { type Kysely, sql, type Transaction } from "kysely";
import { selectIn } from "../../../../db/query/select-in.ts";
import type { Schema } from "../../../../db/schema.ts";
import { type MatchedCveRow, noteReports, type SoftwareRow } from "./match-rows.ts";

/** Software that was judged by another version of the CVE database. */
export type OutdatedSoftware = Omit<SoftwareRow, "judged_at" | "is_reported">;

/** The pass over what is shown of CVEs, in `cve_matching`. */
export const FACTS = "facts";

const DEVICES = 250;

/** Software that was not judged by this version, product by product, after one. */
export function outdatedSoftware(
  reads: Kysely<Schema>, { lineage, generation }: { readonly lineage: string; readonly generation: number },
  { after, limit }: { readonly after: { readonly product: string; readonly id: string }; readonly limit: number },
): Promise<readonly OutdatedSoftware[]> {
  return reads.selectFrom("judged_software").select(["id", "fingerprint", "evidence", "product", "lineage", "generation", "basis"])
    .where((eb) => eb.or([eb("generation", "<>", generation), eb("lineage", "<>", lineage)]))
    .where(sql<boolean>`(product, id) > (${after.product}, ${after.id})`).orderBy("product").orderBy("id").limit(limit).execute();
}

/** Software of which one of these CVEs is, or was, judged. */
export async function softwareWithCves(reads: Kysely<Schema>, cveIds: readonly string[]): Promise<readonly string[]> {
  const rows = await selectIn(cveIds, (list) => reads.selectFrom("cve_judgments").select("software_id").distinct().where("cve_id", "in", list).execute());
  return [...new Set(rows.map(({ software_id: id }) => id))];
}

/** What is shown of CVEs, by their ids as texts. */
export function matchedCvesAfter(reads: Kysely<Schema>, after: string, limit: number): Promise<readonly MatchedCveRow[]> {
  return reads.selectFrom("matched_cves").selectAll().where("cve_id", ">", after).orderBy("cve_id").limit(limit).execute();
}

/**
 * Notes some devices on which software runs, in the order of their ids; behind the last, that all are noted.
 * @returns The last of them; null where all are noted.
 */
export async function reportDevices(
  trx: Transaction<Schema>, softwareId: string, { after, due }: { readonly after: string; readonly due: string },
): Promise<string | null> {
  const rows = await trx.selectFrom("service_software").select(["device_id", "product", "tenant_id"]).distinct().where("software_id", "=", softwareId)
    .where("until", "is", null).where("device_id", ">", after).orderBy("device_id").limit(DEVICES).execute();
  await noteReports(trx, rows.map((row) => ({ ...row, due })));
  if (rows.length === DEVICES) return rows.at(-1)?.device_id ?? null;
  await trx.updateTable("judged_software").set({ is_reported: 1 }).where("id", "=", softwareId).execute();
  return null;
}

/** Software whose judgments have changed, and of which not all devices are noted in `cve_reports`. */
export async function unreportedSoftware(reads: Kysely<Schema>, limit: number): Promise<readonly string[]> {
  const rows = await reads.selectFrom("judged_software").select("id").where("is_reported", "=", 0).orderBy("id").limit(limit).execute();
  return rows.map(({ id }) => id);
}
