import { createId } from "@lanthorn/runtime";
import { type Expression, type Kysely, type Selectable, sql, type SqlBool, type Transaction } from "kysely";
import { commitUnflushed } from "../../../../db/query/unflushed.ts";
import type { Schema } from "../../../../db/schema.ts";
import { noteReports } from "../store/match-rows.ts";

/** What was reported of a device and product. */
export type ReportRow = Selectable<Schema["cve_reports"]>;
/** A suppression. */
export type SuppressionRow = Selectable<Schema["cve_suppressions"]>;

/** A CVE that is open on a device, by the gravest of the services that have it. */
export interface OpenCve {
  readonly cve_id: string;
  readonly severity: string | null;
  readonly score: number | null;
  readonly is_kev: number;
  readonly epss: number | null;
  readonly techniques: string;
  readonly service: string;
  readonly port: number | null;
  readonly cpe: string;
  readonly version_range: string;
}

/** How far down the list of a product's CVEs is looked, the gravest first. */
const MAX_OPEN = 1000;

/** The next tenant of which something is due, in the order of ids; null behind the last. */
export async function nextDueTenant(reads: Kysely<Schema>, after: string): Promise<string | null> {
  const row = await reads.selectFrom("cve_reports").select("tenant_id").where("due", "is not", null).where("tenant_id", ">", after).orderBy("tenant_id").limit(1).executeTakeFirst();
  return row?.tenant_id ?? null;
}

/** What is due of a tenant, that which has waited longest first. */
export function dueReports(reads: Kysely<Schema>, tenantId: string, limit: number): Promise<readonly ReportRow[]> {
  return reads.selectFrom("cve_reports").selectAll().where("tenant_id", "=", tenantId).where("due", "is not", null).orderBy("due").limit(limit).execute();
}

/**
 * That a suppression counts for a match. The query has `service_software`, `cve_judgments` and `devices`.
 * @param now An instant.
 */
export function isSuppressed(now: string): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from cve_suppressions where cve_suppressions.tenant_id = service_software.tenant_id
    and (cve_suppressions.cve_id is null or cve_suppressions.cve_id = cve_judgments.cve_id)
    and (cve_suppressions.device_id is null or cve_suppressions.device_id = service_software.device_id)
    and (cve_suppressions.product is null or cve_suppressions.product = service_software.product)
    and (cve_suppressions.site_id is null or cve_suppressions.site_id = devices.site_id)
    and (cve_suppressions.expires_at is null or cve_suppressions.expires_at > ${now}))`;
}

/** The CVEs that count as affecting a product of a device and are not suppressed, the gravest first, each once. */
export async function openCves(db: Kysely<Schema>, { device_id: deviceId, product }: Pick<ReportRow, "device_id" | "product">, now: string): Promise<readonly OpenCve[]> {
  const rows = await db.selectFrom("service_software").innerJoin("cve_judgments", "cve_judgments.software_id", "service_software.software_id")
    .innerJoin("matched_cves", "matched_cves.cve_id", "cve_judgments.cve_id").innerJoin("devices", "devices.id", "service_software.device_id")
    .select([
      "cve_judgments.cve_id", "matched_cves.severity", "matched_cves.score", "is_kev", "epss", "matched_cves.techniques", "service_software.service", "port", "cve_judgments.cpe",
      "version_range",
    ])
    .where("service_software.device_id", "=", deviceId).where("service_software.product", "=", product).where("service_software.until", "is", null)
    .where("cve_judgments.until", "is", null).where("is_counted", "=", 1).where("status", "=", "open").where((eb) => eb.not(isSuppressed(now)))
    .orderBy("risk", "desc").orderBy("number", "desc").orderBy("port").limit(MAX_OPEN).execute();
  const seen = new Set<string>();
  return rows.filter(({ cve_id: id }) => !seen.has(id) && seen.add(id));
}

/** The device that is reported. */
export function deviceOf(db: Kysely<Schema>, id: string): Promise<Pick<Selectable<Schema["devices"]>, "id" | "site_id" | "ip" | "mac" | "hostname"> | undefined> {
  return db.selectFrom("devices").select(["id", "site_id", "ip", "mac", "hostname"]).where("id", "=", id).executeTakeFirst();
}

/** When the first suppression ends that counts for a product of a device; null where none does. */
export async function suppressionEnds(
  db: Kysely<Schema>, { tenant_id, device_id, product }: ReportRow, siteId: string, now: string,
): Promise<string | null> {
  const row = await db.selectFrom("cve_suppressions").select((eb) => eb.fn.min("expires_at").as("first")).where("tenant_id", "=", tenant_id).where("expires_at", ">", now)
    .where((eb) => eb.and([
      eb.or([eb("device_id", "is", null), eb("device_id", "=", device_id)]), eb.or([eb("product", "is", null), eb("product", "=", product)]),
      eb.or([eb("site_id", "is", null), eb("site_id", "=", siteId)]),
    ])).executeTakeFirst();
  return row?.first ?? null;
}

/** Writes what was reported. It stays due where something has changed meanwhile. */
export async function setReported(
  trx: Transaction<Schema>, { device_id: deviceId, product, due }: ReportRow, columns: Pick<ReportRow, "cves" | "severity" | "look_at">,
): Promise<void> {
  await trx.updateTable("cve_reports").set(columns).where("device_id", "=", deviceId).where("product", "=", product).execute();
  await trx.updateTable("cve_reports").set({ due: null }).where("device_id", "=", deviceId).where("product", "=", product).where("due", "=", due).execute();
}

/** What was waiting for a suppression to end is due. @returns How many, at most `limit`. */
export async function wakeReports(db: Kysely<Schema>, now: string, limit: number): Promise<number> {
  const rows = await db.selectFrom("cve_reports").select(["device_id", "product", "tenant_id"]).where("look_at", "<=", now).limit(limit).execute();
  if (rows.length === 0) return 0;
  await commitUnflushed(db, async (trx) => {
    for (const { device_id: deviceId, product } of rows) {
      await trx.updateTable("cve_reports").set({ look_at: null, due: createId() }).where("device_id", "=", deviceId).where("product", "=", product).execute();
    }
  });
  return rows.length;
}

/**
 * Notes that a suppression was made, changed or ended, in the transaction that does it: alerts follow.
 * @param suppression As it is, or was.
 */
export async function suppressionChanged(
  trx: Transaction<Schema>, { tenant_id, device_id, product, site_id, cve_id }: Pick<SuppressionRow, "tenant_id" | "device_id" | "product" | "site_id" | "cve_id">,
): Promise<void> {
  await trx.insertInto("cve_suppression_passes").values({ id: createId(), tenant_id, device_id, product, site_id, cve_id, after_device: "", after_product: "" }).execute();
}

/**
 * Makes some of what a suppression concerns due that has changed, the oldest first: a site's may be tens of thousands.
 * @returns Whether there was one.
 */
export async function noteSuppressed(db: Kysely<Schema>, limit: number): Promise<boolean> {
  const pass = await db.selectFrom("cve_suppression_passes").selectAll().orderBy("id").limit(1).executeTakeFirst();
  if (!pass) return false;
  const { tenant_id, device_id, product, site_id, cve_id, after_device, after_product } = pass;
  await commitUnflushed(db, async (trx) => {
    const rows = await trx.selectFrom("service_software").innerJoin("devices", "devices.id", "service_software.device_id")
      .select(["service_software.device_id", "service_software.product", "service_software.tenant_id"]).distinct()
      .where("service_software.tenant_id", "=", tenant_id).where("until", "is", null)
      .where(sql<SqlBool>`(service_software.device_id, service_software.product) > (${after_device}, ${after_product})`)
      .$if(device_id !== null, (query) => query.where("service_software.device_id", "=", device_id))
      .$if(product !== null, (query) => query.where("service_software.product", "=", product))
      .$if(site_id !== null, (query) => query.where("devices.site_id", "=", site_id))
      .$if(cve_id !== null, (query) => query.where((eb) => eb.exists(eb.selectFrom("cve_judgments").select("cve_judgments.cve_id")
        .whereRef("cve_judgments.software_id", "=", "service_software.software_id").where("cve_judgments.cve_id", "=", cve_id))))
      .orderBy("service_software.device_id").orderBy("service_software.product").limit(limit).execute();
    await noteReports(trx, rows.map((row) => ({ ...row, due: createId() })));
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) await trx.deleteFrom("cve_suppression_passes").where("id", "=", pass.id).execute();
    else await trx.updateTable("cve_suppression_passes").set({ after_device: last.device_id, after_product: last.product }).where("id", "=", pass.id).execute();
  });
  return true;
}
