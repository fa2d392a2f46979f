import { nextTurn } from "@lanthorn/runtime";
import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** What a person said is right, as stored. */
export type AcceptanceRow = Selectable<Schema["baseline_acceptances"]>;
/** A maintenance window as stored. */
export type WindowRow = Selectable<Schema["baseline_windows"]>;
/** A template as stored; `facts` is a list in JSON. */
export type TemplateRow = Selectable<Schema["baseline_templates"]>;

/** Read at once: some milliseconds. */
const PAGE = 500;
/** Templates have up to 500 facts each. */
const TEMPLATES = 20;

/** The acceptances of a tenant that count at `now`. */
export function acceptancesAt(reads: Kysely<Schema>, tenantId: string, now: string): Promise<readonly AcceptanceRow[]> {
  return inPages(PAGE, (after) => reads.selectFrom("baseline_acceptances").selectAll().where("tenant_id", "=", tenantId).where("id", ">", after)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)])).orderBy("id").limit(PAGE).execute());
}

/** The maintenance windows of a tenant that have not ended at `now`. */
export function windowsFrom(reads: Kysely<Schema>, tenantId: string, now: string): Promise<readonly WindowRow[]> {
  return inPages(PAGE, (after) => reads.selectFrom("baseline_windows").selectAll().where("tenant_id", "=", tenantId).where("id", ">", after)
    .where("ends_at", ">", now).orderBy("id").limit(PAGE).execute());
}

/** The templates of a tenant. */
export function templatesOf(reads: Kysely<Schema>, tenantId: string): Promise<readonly TemplateRow[]> {
  return inPages(TEMPLATES, (after) => reads.selectFrom("baseline_templates").selectAll().where("tenant_id", "=", tenantId).where("id", ">", after)
    .orderBy("id").limit(TEMPLATES).execute());
}

/** All rows, with a turn of the event loop behind each page. */
async function inPages<T extends { readonly id: string }>(size: number, read: (after: string) => Promise<readonly T[]>): Promise<readonly T[]> {
  const rows: T[] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const page: readonly T[] = await read(after);
    rows.push(...page);
    after = page.length < size ? undefined : page.at(-1)?.id;
    await nextTurn();
  }
  return rows;
}
