import type { Selectable } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Rows } from "../../../gateway/page.ts";
import type { From, Trx } from "./handles.ts";

/** A maintenance window as stored. */
export type WindowRow = Selectable<Schema["baseline_windows"]>;
/** With what its device or site is called by. */
export type NamedWindow = WindowRow & { readonly site_name: string; readonly hostname: string | null; readonly ip: string | null };

/** Which windows a list has: those that are not over at `now`. */
interface Filter {
  readonly siteId: string | undefined;
  readonly now: string;
}

/** A tenant's windows that are not over, in the order in which they were made. */
export function windows(from: From, tenantId: string, filter: Filter, page: Rows): Promise<NamedWindow[]> {
  const query = named(current(from, tenantId, filter)).orderBy("baseline_windows.id").limit(page.limit);
  return (typeof page.from === "number" ? query.offset(page.from) : query.where("baseline_windows.id", ">", page.from)).execute();
}

/** How many a list has. */
export async function countWindows(from: From, tenantId: string, filter: Filter): Promise<number> {
  const { total } = await current(from, tenantId, filter).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return total;
}

/** Adds one, and forgets the tenant's that ended before `overBefore`. */
export async function addWindow(trx: Trx, row: WindowRow, overBefore: string): Promise<void> {
  await trx.deleteFrom("baseline_windows").where("tenant_id", "=", row.tenant_id).where("ends_at", "<=", overBefore).execute();
  await trx.insertInto("baseline_windows").values(row).execute();
}

/** A tenant's window, also one that is over; null where there is none of that id. */
export async function windowById(from: From, tenantId: string, id: string): Promise<NamedWindow | null> {
  const query = from.selectFrom("baseline_windows").where("baseline_windows.tenant_id", "=", tenantId).where("baseline_windows.id", "=", id);
  return (await named(query).executeTakeFirst()) ?? null;
}

/** Removes one. */
export async function removeWindow(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom("baseline_windows").where("id", "=", id).execute();
}

function current(from: From, tenantId: string, { siteId, now }: Filter) {
  const query = from.selectFrom("baseline_windows").where("baseline_windows.tenant_id", "=", tenantId).where("baseline_windows.ends_at", ">", now);
  return siteId === undefined ? query : query.where("baseline_windows.site_id", "=", siteId);
}

function named(query: ReturnType<typeof current>) {
  return query.innerJoin("sites", "sites.id", "baseline_windows.site_id").leftJoin("devices", "devices.id", "baseline_windows.device_id")
    .selectAll("baseline_windows").select(["sites.name as site_name", "devices.hostname", "devices.ip"]);
}
