import type { Kysely, Selectable, Transaction } from "kysely";
import { selectIn } from "../../../../db/query/select-in.ts";
import { commitUnflushed } from "../../../../db/query/unflushed.ts";
import { updateMany, upsertMany } from "../../../../db/query/write-many.ts";
import type { Schema } from "../../../../db/schema.ts";

/** A piece of software that was, or is about to be, judged. */
export type SoftwareRow = Selectable<Schema["judged_software"]>;
/** A CVE that concerns software. */
export type JudgmentRow = Selectable<Schema["cve_judgments"]>;
/** Software that ran, or runs, somewhere. */
export type AssignmentRow = Selectable<Schema["service_software"]>;
/** What is shown of a CVE. */
export type MatchedCveRow = Selectable<Schema["matched_cves"]>;
type Trx = Transaction<Schema>;

/** Adds software that is not there yet, as another replica may have added it meanwhile. No fingerprint twice. */
export async function addSoftware(trx: Trx, rows: readonly SoftwareRow[]): Promise<void> {
  await upsertMany(trx, "judged_software", { key: ["fingerprint"], update: ["product"] }, rows);
}

/** Software by its fingerprints. */
export function findSoftware(db: Kysely<Schema>, fingerprints: readonly string[]): Promise<readonly Pick<SoftwareRow, "id" | "fingerprint" | "product">[]> {
  return selectIn(fingerprints, (list) => db.selectFrom("judged_software").select(["id", "fingerprint", "product"]).where("fingerprint", "in", list).execute());
}

/** Says by what the judgments of software were brought up to date. */
export async function setJudged(
  trx: Trx, rows: readonly Pick<SoftwareRow, "id" | "lineage" | "generation" | "basis" | "judged_at">[],
): Promise<void> {
  await updateMany(trx, "judged_software", rows);
}

/** Writes judgments that are new or have changed. One that has ended and holds again keeps when it held first. */
export async function putJudgments(trx: Trx, rows: readonly JudgmentRow[]): Promise<void> {
  const update = ["cpe", "version_range", "confidence", "status", "is_counted", "reasons", "remedies", "until"];
  await upsertMany(trx, "cve_judgments", { key: ["software_id", "cve_id"], update }, rows);
}

/** Ends judgments that hold no more. */
export async function endJudgments(trx: Trx, rows: readonly Pick<JudgmentRow, "software_id" | "cve_id">[], at: string): Promise<void> {
  await updateMany(trx, "cve_judgments", rows.map(({ software_id, cve_id }) => ({ software_id, cve_id, until: at })), ["software_id", "cve_id"]);
}

/** Judgments of software, ended ones too, in the order of CVEs. */
export function judgmentsAfter(
  db: Kysely<Schema>, softwareId: string, { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly JudgmentRow[]> {
  return db.selectFrom("cve_judgments").selectAll().where("software_id", "=", softwareId).where("cve_id", ">", after).orderBy("cve_id").limit(limit).execute();
}

/** Says that not all devices that have the software are noted in `cve_reports` yet. */
export async function setUnreported(trx: Trx, softwareId: string): Promise<void> {
  await trx.updateTable("judged_software").set({ is_reported: 0 }).where("id", "=", softwareId).execute();
}

/** Writes where software runs. What ran there before, and runs again, keeps when it was there first. */
export async function putAssignments(trx: Trx, rows: readonly AssignmentRow[]): Promise<void> {
  await upsertMany(trx, "service_software", { key: ["device_id", "service_key", "software_id"], update: ["service", "until"] }, rows);
}

/** Ends assignments: the software was replaced, or does not run there any more. */
export async function endAssignments(trx: Trx, ids: readonly string[], at: string): Promise<void> {
  await updateMany(trx, "service_software", ids.map((id) => ({ id, until: at })));
}

/** What runs on devices. */
export function assignmentsOf(db: Kysely<Schema>, deviceIds: readonly string[]): Promise<readonly AssignmentRow[]> {
  return selectIn(deviceIds, (list) => db.selectFrom("service_software").selectAll().where("device_id", "in", list).where("until", "is", null).execute());
}

/** Writes what is shown of CVEs. */
export async function putMatchedCves(trx: Trx, rows: readonly MatchedCveRow[]): Promise<void> {
  const update = ["description", "severity", "score", "published", "is_kev", "epss", "risk", "number", "links", "techniques"];
  await upsertMany(trx, "matched_cves", { key: ["cve_id"], update }, rows);
}

/**
 * Notes that what is to be reported of products of devices may be another than before, in the transaction that changes it.
 * @param rows No device and product twice. `due` is a new id.
 */
export async function noteReports(
  trx: Trx, rows: readonly { readonly device_id: string; readonly product: string; readonly tenant_id: string; readonly due: string }[],
): Promise<void> {
  await upsertMany(trx, "cve_reports", { key: ["device_id", "product"], update: ["due"] }, rows.map(({ device_id, product, tenant_id, due }) => ({
    device_id, product, tenant_id, due, look_at: null, cves: "[]", severity: null,
  })));
}

/** By which version of the CVE database a pass over all rows was finished; undefined where it never was. */
export function finishedVersion(reads: Kysely<Schema>, name: string): Promise<Pick<Selectable<Schema["cve_matching"]>, "lineage" | "generation"> | undefined> {
  return reads.selectFrom("cve_matching").select(["lineage", "generation"]).where("name", "=", name).executeTakeFirst();
}

/** Says that a pass over all rows is finished. */
export async function setFinished(db: Kysely<Schema>, row: Selectable<Schema["cve_matching"]>): Promise<void> {
  await commitUnflushed(db, (trx) => upsertMany(trx, "cve_matching", { key: ["name"], update: ["lineage", "generation", "at"] }, [row]));
}

/** Those of CVEs of which is written what is shown. */
export async function shownCves(db: Kysely<Schema>, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await selectIn(ids, (list) => db.selectFrom("matched_cves").select("cve_id").where("cve_id", "in", list).execute());
  return rows.map(({ cve_id: id }) => id);
}
