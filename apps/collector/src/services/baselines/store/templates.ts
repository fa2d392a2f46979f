import { type Selectable, sql } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Rows } from "../../../gateway/page.ts";
import type { From, Trx } from "./handles.ts";

/** A template as stored. */
export type TemplateRow = Selectable<Schema["baseline_templates"]>;

/** A tenant's templates, in the order in which they were made. */
export function templates(from: From, tenantId: string, siteId: string | undefined, page: Rows): Promise<TemplateRow[]> {
  const query = countingAt(from, tenantId, siteId).selectAll().orderBy("id").limit(page.limit);
  return (typeof page.from === "number" ? query.offset(page.from) : query.where("id", ">", page.from)).execute();
}

/** How many a list has. */
export async function countTemplates(from: From, tenantId: string, siteId: string | undefined): Promise<number> {
  const { total } = await countingAt(from, tenantId, siteId).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return total;
}

/** What the facts of all templates of a tenant may be in JSON: the comparison keeps them in memory. */
export const MAX_TEMPLATE_CHARACTERS = 4_000_000;

/** How many characters the facts of a tenant's templates are. */
export async function templateCharacters(from: From, tenantId: string): Promise<number> {
  const { total } = await from.selectFrom("baseline_templates").select(sql<number | string | null>`sum(length(facts))`.as("total")).where("tenant_id", "=", tenantId)
    .executeTakeFirstOrThrow();
  return Number(total ?? 0);
}

/** For which devices each of a tenant's templates counts, without its facts. */
export function templateHeads(from: From, tenantId: string): Promise<Pick<TemplateRow, "id" | "name" | "site_id" | "tag">[]> {
  return from.selectFrom("baseline_templates").select(["id", "name", "site_id", "tag"]).where("tenant_id", "=", tenantId).orderBy("id").execute();
}

/** A tenant's template; null where there is none of that id. */
export async function templateById(from: From, tenantId: string, id: string): Promise<TemplateRow | null> {
  return (await from.selectFrom("baseline_templates").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** Adds one. It fails for a name that another one of the tenant has: see `isDuplicate`. */
export async function addTemplate(trx: Trx, row: TemplateRow): Promise<void> {
  await trx.insertInto("baseline_templates").values(row).execute();
}

/** Changes one. It fails as `addTemplate`. */
export async function changeTemplate(trx: Trx, id: string, change: Partial<TemplateRow>): Promise<void> {
  await trx.updateTable("baseline_templates").set(change).where("id", "=", id).execute();
}

/** Removes one. */
export async function removeTemplate(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom("baseline_templates").where("id", "=", id).execute();
}

function countingAt(from: From, tenantId: string, siteId: string | undefined) {
  const query = from.selectFrom("baseline_templates").where("tenant_id", "=", tenantId);
  return siteId === undefined ? query : query.where((eb) => eb.or([eb("site_id", "=", siteId), eb("site_id", "is", null)]));
}
