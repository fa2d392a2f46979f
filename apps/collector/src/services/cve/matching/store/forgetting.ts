import { nextTurn } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { commitUnflushed } from "../../../../db/query/unflushed.ts";
import type { Schema } from "../../../../db/schema.ts";

const AT_ONCE = 200;

/**
 * Forgets matches that ended before a moment, then software that runs nowhere any more, and CVEs that concern nothing. Nothing may be judged meanwhile.
 * @returns How many rows went.
 */
export async function forgetMatches(db: Kysely<Schema>, before: string, stopped: AbortSignal): Promise<number> {
  let total = 0;
  for (const some of [forgetAssignments, forgetJudgments, forgetSoftware, forgetCves, forgetReports]) {
    for (let went = AT_ONCE; went === AT_ONCE && !stopped.aborted; total += went) {
      went = await commitUnflushed(db, (trx) => some(trx, before));
      await nextTurn();
    }
  }
  return total;
}

async function forgetAssignments(db: Kysely<Schema>, before: string): Promise<number> {
  const old = await db.selectFrom("service_software").select("id").where("until", "<", before).limit(AT_ONCE).execute();
  if (old.length > 0) await db.deleteFrom("service_software").where("id", "in", old.map(({ id }) => id)).execute();
  return old.length;
}

async function forgetJudgments(db: Kysely<Schema>, before: string): Promise<number> {
  const old = await db.selectFrom("cve_judgments").select(["software_id", "cve_id"]).where("until", "<", before).limit(AT_ONCE).execute();
  for (const { software_id: software, cve_id: cve } of old) {
    await db.deleteFrom("cve_judgments").where("software_id", "=", software).where("cve_id", "=", cve).execute();
  }
  return old.length;
}

/** Its judgments first: one piece of software may have thousands. */
async function forgetSoftware(db: Kysely<Schema>): Promise<number> {
  const unused = await db.selectFrom("judged_software").select("id")
    .where(({ not, exists, selectFrom }) => not(exists(selectFrom("service_software").select("service_software.id").whereRef("software_id", "=", "judged_software.id"))))
    .limit(1).executeTakeFirst();
  if (!unused) return 0;
  const judgments = await db.selectFrom("cve_judgments").select("cve_id").where("software_id", "=", unused.id).limit(AT_ONCE).execute();
  if (judgments.length > 0) {
    await db.deleteFrom("cve_judgments").where("software_id", "=", unused.id).where("cve_id", "in", judgments.map(({ cve_id: id }) => id)).execute();
  }
  if (judgments.length < AT_ONCE) await db.deleteFrom("judged_software").where("id", "=", unused.id).execute();
  return AT_ONCE;
}

async function forgetCves(db: Kysely<Schema>): Promise<number> {
  const unused = await db.selectFrom("matched_cves").select("cve_id")
    .where(({ not, exists, selectFrom }) => not(exists(selectFrom("cve_judgments").select("cve_judgments.cve_id").whereRef("cve_judgments.cve_id", "=", "matched_cves.cve_id"))))
    .limit(AT_ONCE).execute();
  if (unused.length > 0) await db.deleteFrom("matched_cves").where("cve_id", "in", unused.map(({ cve_id: id }) => id)).execute();
  return unused.length;
}

/** Of products that a device does not have any more, and of which nothing is open. */
async function forgetReports(db: Kysely<Schema>): Promise<number> {
  const unused = await db.selectFrom("cve_reports").select(["device_id", "product"]).where("due", "is", null).where("severity", "is", null).where("cves", "=", "[]")
    .where(({ not, exists, selectFrom }) => not(exists(selectFrom("service_software").select("service_software.id")
      .whereRef("service_software.device_id", "=", "cve_reports.device_id").whereRef("service_software.product", "=", "cve_reports.product"))))
    .limit(AT_ONCE).execute();
  for (const { device_id: device, product } of unused) {
    await db.deleteFrom("cve_reports").where("device_id", "=", device).where("product", "=", product).where("due", "is", null).execute();
  }
  return unused.length;
}
