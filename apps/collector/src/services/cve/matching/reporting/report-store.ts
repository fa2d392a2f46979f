import { createId } from "@lanthorn/runtime";
import { type Expression, type Kysely, type Selectable, sql, type SqlBool, type Transaction } from "kysely";
import { among, selectIn } from "../../../../db/query/select-in.ts";
import { commitUnflushed } from "../../../../db/query/unflushed.ts";
import { updateMany } from "../../../../db/query/write-many.ts";
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
export const MAX_OPEN = 1000;

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

/** The CVEs of a piece of software that count as affecting it, the gravest first. Where it runs is left open. */
export async function openOfSoftware(db: Kysely<Schema>, softwareId: string): Promise<readonly OpenCve[]> {
  const rows = await db.selectFrom("cve_judgments").innerJoin("matched_cves", "matched_cves.cve_id", "cve_judgments.cve_id")
    .select(["cve_judgments.cve_id", "matched_cves.severity", "matched_cves.score", "is_kev", "epss", "matched_cves.techniques", "cve_judgments.cpe", "version_range"])
    .where("cve_judgments.software_id", "=", softwareId).where("cve_judgments.until", "is", null).where("is_counted", "=", 1).where("status", "=", "open")
    .orderBy("risk", "desc").orderBy("number", "desc").limit(MAX_OPEN).execute();
  return rows.map((row) => ({ ...row, service: "", port: null }));
}

/** A device that is reported. */
export type ReportedDevice = Pick<Selectable<Schema["devices"]>, "id" | "site_id" | "ip" | "mac" | "hostname">;

/** A service that runs a product which is reported, and by what its software was judged. */
export type ReportedService = Pick<Selectable<Schema["service_software"]>, "device_id" | "product" | "software_id" | "service" | "port">
  & Pick<Selectable<Schema["judged_software"]>, "lineage" | "generation" | "judged_at" | "is_reported">;

/** What reports are made of. */
export interface ReportSources {
  readonly device: ReportedDevice;
  /** In the order of their ports. */
  readonly services: readonly ReportedService[];
  /** Suppressions that count for it, or for some of its CVEs, and when the first of them ends; null where none does, and undefined where there are none. */
  readonly suppressedUntil: string | null | undefined;
}

/** Reads what reports are made of; those of a device that is gone are left out. */
export async function readSources(db: Kysely<Schema>, reports: readonly ReportRow[], now: string): Promise<ReadonlyMap<ReportRow, ReportSources>> {
  const pairs = reports.map(({ device_id: id, product }) => [id, product] as const);
  const devices = await selectIn([...new Set(reports.map(({ device_id: id }) => id))], (list) =>
    db.selectFrom("devices").select(["id", "site_id", "ip", "mac", "hostname"]).where("id", "in", list).execute());
  const services = await selectIn(pairs, (list) => db.selectFrom("service_software").innerJoin("judged_software", "judged_software.id", "service_software.software_id")
    .select([
      "service_software.device_id", "service_software.product", "software_id", "service", "port", "judged_software.lineage", "judged_software.generation", "judged_software.judged_at",
      "judged_software.is_reported",
    ]).where(among(["service_software.device_id", "service_software.product"], list)).where("until", "is", null).orderBy("port").execute());
  const ends = new Map((await selectIn(pairs, (list) => suppressionEnds(db, list, now))).map(({ device_id: id, product, first }) => [`${id} ${product}`, first]));
  const byId = new Map(devices.map((device) => [device.id, device]));
  const byPlace = new Map<string, ReportedService[]>();
  for (const service of services) {
    const place = `${service.device_id} ${service.product}`;
    const others = byPlace.get(place);
    if (others) others.push(service);
    else byPlace.set(place, [service]);
  }
  return new Map(reports.flatMap((row) => {
    const [device, place] = [byId.get(row.device_id), `${row.device_id} ${row.product}`];
    return device === undefined ? [] : [[row, { device, services: byPlace.get(place) ?? [], suppressedUntil: ends.get(place) }] as const];
  }));
}

/** When the first suppression ends that counts for products of devices; those without any are left out. */
function suppressionEnds(db: Kysely<Schema>, pairs: readonly (readonly [deviceId: string, product: string])[], now: string) {
  return db.selectFrom("cve_reports").innerJoin("devices", "devices.id", "cve_reports.device_id")
    .innerJoin("cve_suppressions", (join) => join.onRef("cve_suppressions.tenant_id", "=", "cve_reports.tenant_id").on((eb) => eb.and([
      eb.or([eb("cve_suppressions.device_id", "is", null), eb("cve_suppressions.device_id", "=", eb.ref("cve_reports.device_id"))]),
      eb.or([eb("cve_suppressions.product", "is", null), eb("cve_suppressions.product", "=", eb.ref("cve_reports.product"))]),
      eb.or([eb("cve_suppressions.site_id", "is", null), eb("cve_suppressions.site_id", "=", eb.ref("devices.site_id"))]),
      eb.or([eb("cve_suppressions.expires_at", "is", null), eb("cve_suppressions.expires_at", ">", now)]),
    ])))
    .select(["cve_reports.device_id", "cve_reports.product", (eb) => eb.fn.min<string | null>("cve_suppressions.expires_at").as("first")])
    .where(among(["cve_reports.device_id", "cve_reports.product"], pairs)).groupBy(["cve_reports.device_id", "cve_reports.product"]).execute();
}

/** What was reported of a device and product. */
export type Reported = Pick<ReportRow, "cves" | "severity" | "look_at">;

/** Writes what was reported. What has changed meanwhile stays due. */
export async function setReported(trx: Transaction<Schema>, reports: readonly (readonly [before: ReportRow, now: Reported])[]): Promise<void> {
  const changed = reports.filter(([before, { cves, severity, look_at: at }]) => before.cves !== cves || before.severity !== severity || before.look_at !== at);
  await updateMany(trx, "cve_reports", changed.map(([{ device_id, product }, columns]) => ({ device_id, product, ...columns })), ["device_id", "product"]);
  const due = reports.flatMap(([{ device_id: id, product, due: noted }]) => (noted === null ? [] : [[id, product, noted] as const]));
  await selectIn(due, async (list) => {
    await trx.updateTable("cve_reports").set({ due: null }).where(among(["device_id", "product", "due"], list)).execute();
    return [];
  });
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
