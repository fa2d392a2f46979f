import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** What a person said is right, as stored. */
export type AcceptanceRow = Selectable<Schema["baseline_acceptances"]>;
/** A maintenance window as stored. */
export type WindowRow = Selectable<Schema["baseline_windows"]>;
/** A template as stored; `facts` is a list in JSON. */
export type TemplateRow = Selectable<Schema["baseline_templates"]>;

/** More than a tenant may have. */
const MAX_ROWS = 20_000;

/** The acceptances of a tenant that count at `now`. */
export function acceptancesAt(reads: Kysely<Schema>, tenantId: string, now: string): Promise<readonly AcceptanceRow[]> {
  return reads.selectFrom("baseline_acceptances").selectAll().where("tenant_id", "=", tenantId)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)])).limit(MAX_ROWS).execute();
}

/** The maintenance windows of a tenant that have not ended at `now`. */
export function windowsFrom(reads: Kysely<Schema>, tenantId: string, now: string): Promise<readonly WindowRow[]> {
  return reads.selectFrom("baseline_windows").selectAll().where("tenant_id", "=", tenantId).where("ends_at", ">", now).limit(MAX_ROWS).execute();
}

/** The templates of a tenant. */
export function templatesOf(reads: Kysely<Schema>, tenantId: string): Promise<readonly TemplateRow[]> {
  return reads.selectFrom("baseline_templates").selectAll().where("tenant_id", "=", tenantId).limit(MAX_ROWS).execute();
}
