import type { BaselineDifferencesQuery } from "@lanthorn/contract";
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Rows } from "../../../gateway/page.ts";
import type { DifferenceRow } from "./differences.ts";
import type { From } from "./handles.ts";

/** A difference with what its device or site is called by. */
export type NamedDifference = DifferenceRow & {
  readonly site_name: string; readonly hostname: string | null; readonly ip: string | null; readonly mac: string | null;
  /** When its baseline was approved and learned. */
  readonly approved_at: string | null; readonly learned_at: string | null;
};
type Filter = Pick<BaselineDifferencesQuery, "site_id" | "device_id" | "baseline_id" | "kind" | "outcome" | "state">;

/** A tenant's differences, the newest first. */
export function differences(from: From, tenantId: string, filter: Filter, page: Rows): Promise<NamedDifference[]> {
  const query = named(from).where((eb) => matches(eb as never, tenantId, filter)).orderBy("baseline_differences.id", "desc").limit(page.limit);
  return (typeof page.from === "number" ? query.offset(page.from) : query.where("baseline_differences.id", "<", page.from)).execute();
}

/** How many a list has. */
export async function countDifferences(from: From, tenantId: string, filter: Filter): Promise<number> {
  const { total } = await from.selectFrom("baseline_differences").select((eb) => eb.fn.countAll<number>().as("total"))
    .where((eb) => matches(eb, tenantId, filter)).executeTakeFirstOrThrow();
  return total;
}

/** A tenant's difference; null where there is none of that id. */
export async function differenceById(from: From, tenantId: string, id: string): Promise<NamedDifference | null> {
  return (await named(from).where("baseline_differences.tenant_id", "=", tenantId).where("baseline_differences.id", "=", id)
    .executeTakeFirst()) ?? null;
}

function named(from: From) {
  return from.selectFrom("baseline_differences").innerJoin("sites", "sites.id", "baseline_differences.site_id")
    .leftJoin("devices", "devices.id", "baseline_differences.device_id")
    .leftJoin("baselines", "baselines.id", "baseline_differences.baseline_id").selectAll("baseline_differences")
    .select(["sites.name as site_name", "devices.hostname", "devices.ip", "devices.mac", "baselines.approved_at", "baselines.learned_at"]);
}

function matches(eb: ExpressionBuilder<Schema, "baseline_differences">, tenantId: string, filter: Filter) {
  const all: Expression<SqlBool>[] = [eb("baseline_differences.tenant_id", "=", tenantId), eb("baseline_differences.state", "in", filter.state)];
  if (filter.site_id !== undefined) all.push(eb("baseline_differences.site_id", "=", filter.site_id));
  if (filter.device_id !== undefined) all.push(eb("baseline_differences.device_id", "=", filter.device_id));
  if (filter.baseline_id !== undefined) all.push(eb("baseline_differences.baseline_id", "=", filter.baseline_id));
  if (filter.kind) all.push(eb("baseline_differences.kind", "in", filter.kind));
  if (filter.outcome) all.push(eb("baseline_differences.outcome", "in", filter.outcome));
  return eb.and(all);
}
