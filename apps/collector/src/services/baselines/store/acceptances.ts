import type { Selectable } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Rows } from "../../../gateway/page.ts";
import type { From, Trx } from "./handles.ts";

/** An acceptance as stored. */
export type AcceptanceRow = Selectable<Schema["baseline_acceptances"]>;
/** With what its device or site is called by. */
export type NamedAcceptance = AcceptanceRow & { readonly site_name: string | null; readonly hostname: string | null; readonly ip: string | null };

/** Which acceptances a list has: those that count at `now`. */
interface Filter {
  readonly siteId: string | undefined;
  readonly now: string;
}

/** Acceptances that have not expired, in the order in which they were made. */
export function acceptances(from: From, tenantId: string, filter: Filter, page: Rows): Promise<NamedAcceptance[]> {
  const query = named(current(from, tenantId, filter)).orderBy("baseline_acceptances.id").limit(page.limit);
  return (typeof page.from === "number" ? query.offset(page.from) : query.where("baseline_acceptances.id", ">", page.from)).execute();
}

/** How many a list has. */
export async function countAcceptances(from: From, tenantId: string, filter: Filter): Promise<number> {
  const { total } = await current(from, tenantId, filter).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return total;
}

/** Adds one, and forgets the tenant's that have expired. */
export async function addAcceptance(trx: Trx, row: AcceptanceRow): Promise<void> {
  await trx.deleteFrom("baseline_acceptances").where("tenant_id", "=", row.tenant_id).where("expires_at", "<=", row.created_at).execute();
  await trx.insertInto("baseline_acceptances").values(row).execute();
}

/** A tenant's acceptance, also one that has expired; null where there is none of that id. */
export async function acceptanceById(from: From, tenantId: string, id: string): Promise<NamedAcceptance | null> {
  const query = from.selectFrom("baseline_acceptances").where("baseline_acceptances.tenant_id", "=", tenantId).where("baseline_acceptances.id", "=", id);
  return (await named(query).executeTakeFirst()) ?? null;
}

/** Removes one. */
export async function removeAcceptance(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom("baseline_acceptances").where("id", "=", id).execute();
}

/** The tags of a device; null where the tenant does not have it, or has it at another site than the one given. */
export async function tagsOf(from: From, tenantId: string, deviceId: string, siteId?: string): Promise<readonly string[] | null> {
  const row = await from.selectFrom("devices").select(["tags", "site_id"]).where("tenant_id", "=", tenantId).where("id", "=", deviceId).executeTakeFirst();
  return row && (siteId === undefined || row.site_id === siteId) ? (JSON.parse(row.tags) as string[]) : null;
}

function current(from: From, tenantId: string, { siteId, now }: Filter) {
  const query = from.selectFrom("baseline_acceptances").where("baseline_acceptances.tenant_id", "=", tenantId)
    .where((eb) => eb.or([eb("baseline_acceptances.expires_at", "is", null), eb("baseline_acceptances.expires_at", ">", now)]));
  return siteId === undefined ? query
    : query.where((eb) => eb.or([eb("baseline_acceptances.site_id", "=", siteId), eb("baseline_acceptances.site_id", "is", null)]));
}

function named(query: ReturnType<typeof current>) {
  return query.leftJoin("sites", "sites.id", "baseline_acceptances.site_id").leftJoin("devices", "devices.id", "baseline_acceptances.device_id")
    .selectAll("baseline_acceptances").select(["sites.name as site_name", "devices.hostname", "devices.ip"]);
}
