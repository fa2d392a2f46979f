import type { Expression, ExpressionBuilder, Selectable, SqlBool } from "kysely";
import { selectIn } from "../../../db/query/select-in.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Rows } from "../../../gateway/page.ts";
import type { From, Trx } from "./handles.ts";

/** A baseline with what it is called by. The device's columns are null for a site's own. */
export type NamedBaseline = Selectable<Schema["baselines"]> & {
  readonly site_name: string; readonly hostname: string | null; readonly ip: string | null; readonly tags: string | null;
};
/** Columns of a baseline that people change. */
export type BaselineChange = Partial<Omit<Selectable<Schema["baselines"]>, "id" | "tenant_id" | "site_id" | "device_id" | "scope">>;

/** Which baselines a list has. */
export interface BaselineFilter {
  readonly siteId?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly of?: "site" | "device" | undefined;
  readonly states?: readonly string[] | undefined;
}

/** A tenant's baselines, in the order in which they were made. */
export function baselines(from: From, tenantId: string, filter: BaselineFilter, page: Rows): Promise<NamedBaseline[]> {
  const query = named(from).where((eb) => matches(eb as never, tenantId, filter)).orderBy("baselines.id").limit(page.limit);
  return (typeof page.from === "number" ? query.offset(page.from) : query.where("baselines.id", ">", page.from)).execute();
}

/** How many a list has. */
export async function countBaselines(from: From, tenantId: string, filter: BaselineFilter): Promise<number> {
  const { total } = await from.selectFrom("baselines").select((eb) => eb.fn.countAll<number>().as("total"))
    .where((eb) => matches(eb, tenantId, filter)).executeTakeFirstOrThrow();
  return total;
}

/** A tenant's baseline; null where there is none of that id. */
export async function baselineById(from: From, tenantId: string, id: string): Promise<NamedBaseline | null> {
  return (await named(from).where("baselines.tenant_id", "=", tenantId).where("baselines.id", "=", id).executeTakeFirst()) ?? null;
}

/** The baseline of a tenant's device; null where there is none yet. */
export async function baselineOfDevice(from: From, tenantId: string, deviceId: string): Promise<NamedBaseline | null> {
  return (await named(from).where("baselines.tenant_id", "=", tenantId).where("baselines.device_id", "=", deviceId).executeTakeFirst()) ?? null;
}

/** Baselines of a site's devices behind `after`, by id. */
export function deviceBaselines(
  from: From, { tenantId, siteId }: { readonly tenantId: string; readonly siteId: string }, after: string, limit: number,
): Promise<NamedBaseline[]> {
  return named(from).where("baselines.tenant_id", "=", tenantId).where("baselines.site_id", "=", siteId).where("baselines.scope", "<>", "").where("baselines.id", ">", after)
    .orderBy("baselines.id").limit(limit).execute();
}

/** What is set of sites' own baselines, by the site's id. */
export async function siteSettings(from: From, siteIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await selectIn([...new Set(siteIds)], (list) => from.selectFrom("baselines").select(["site_id", "settings"])
    .where("scope", "=", "").where("site_id", "in", list).execute());
  return new Map(rows.map(({ site_id: siteId, settings }) => [siteId, settings]));
}

/** How many facts baselines have, of each kind; those without any are left out. */
export function factCounts(
  from: From, ids: readonly string[],
): Promise<{ readonly baseline_id: string; readonly kind: string; readonly facts: number }[]> {
  return selectIn(ids, (list) => from.selectFrom("baseline_facts").select((eb) => ["baseline_id", "kind", eb.fn.countAll<number>().as("facts")])
    .where("baseline_id", "in", list).groupBy(["baseline_id", "kind"]).execute());
}

/** How many differences of baselines have not ended, in each state; those without any are left out. */
export function differenceCounts(
  from: From, ids: readonly string[],
): Promise<{ readonly baseline_id: string; readonly state: string; readonly differences: number }[]> {
  return selectIn(ids, (list) => from.selectFrom("baseline_differences")
    .select((eb) => ["baseline_id", "state", eb.fn.countAll<number>().as("differences")]).where("baseline_id", "in", list)
    .where("state", "<>", "ended").groupBy(["baseline_id", "state"]).execute());
}

/** Changes what people may change of baselines. */
export async function changeBaselines(trx: Trx, ids: readonly string[], change: BaselineChange): Promise<void> {
  await selectIn(ids, async (list) => {
    await trx.updateTable("baselines").set(change).where("id", "in", list).execute();
    return [];
  });
}

function named(from: From) {
  return from.selectFrom("baselines").innerJoin("sites", "sites.id", "baselines.site_id").leftJoin("devices", "devices.id", "baselines.device_id")
    .selectAll("baselines").select(["sites.name as site_name", "devices.hostname", "devices.ip", "devices.tags"]);
}

function matches(eb: ExpressionBuilder<Schema, "baselines">, tenantId: string, { siteId, deviceId, of, states }: BaselineFilter) {
  const all: Expression<SqlBool>[] = [eb("baselines.tenant_id", "=", tenantId)];
  if (siteId !== undefined) all.push(eb("baselines.site_id", "=", siteId));
  if (deviceId !== undefined) all.push(eb("baselines.device_id", "=", deviceId));
  if (of !== undefined) all.push(eb("baselines.scope", of === "site" ? "=" : "<>", ""));
  if (states) all.push(eb("baselines.state", "in", states));
  return eb.and(all);
}
