import type { Insertable, Kysely, Selectable, Transaction, Updateable } from "kysely";
import { isDuplicate } from "../../../db/constraints.ts";
import type { Schema } from "../../../db/schema.ts";
import { insertMany } from "../../../db/query/write-many.ts";
import type { AddressRow, PrefixRow } from "./plan.ts";

type Trx = Transaction<Schema>;
type PlanTable = "ipam_prefixes" | "ipam_addresses";

/** Adds a prefix or an address. @returns False where it is in the plan already; the transaction can only be undone then. */
export async function addToPlan<T extends PlanTable>(trx: Trx, table: T, row: Insertable<Schema[T]>): Promise<boolean> {
  try {
    await insertMany(trx, table, [row]);
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** Sets columns of a prefix. */
export async function setPrefix(trx: Trx, id: string, columns: Updateable<Schema["ipam_prefixes"]>): Promise<void> {
  await trx.updateTable("ipam_prefixes").set(columns).where("id", "=", id).execute();
}

/** Sets columns of an address. */
export async function setAddress(trx: Trx, id: string, columns: Updateable<Schema["ipam_addresses"]>): Promise<void> {
  await trx.updateTable("ipam_addresses").set(columns).where("id", "=", id).execute();
}

/** Takes a prefix or an address out of the plan. */
export async function removeFromPlan(trx: Trx, table: PlanTable, id: string): Promise<void> {
  await trx.deleteFrom(table).where("id", "=", id).execute();
}

/** A prefix as it is planned; null for none. @param scope A site's id; empty for all sites. */
export async function plannedPrefix(trx: Trx, tenantId: string, prefix: string, scope: string): Promise<PrefixRow | null> {
  return (await trx.selectFrom("ipam_prefixes").selectAll().where("tenant_id", "=", tenantId).where("prefix", "=", prefix)
    .where("scope", "=", scope).executeTakeFirst()) ?? null;
}

/** An address as it is planned; null for none. @param scope A site's id; empty for all sites. */
export async function plannedAddress(trx: Trx, tenantId: string, ipKey: string, scope: string): Promise<AddressRow | null> {
  return (await trx.selectFrom("ipam_addresses").selectAll().where("tenant_id", "=", tenantId).where("ip_key", "=", ipKey)
    .where("scope", "=", scope).executeTakeFirst()) ?? null;
}

/** An address of a site that is not used as planned. `kinds` is names with commas between; `published` is 1 once an event has reported the conflict. */
export type ConflictRow = Selectable<Schema["ipam_conflicts"]>;

/** The conflicts that are known of a tenant. */
export function knownConflicts(trx: Trx, tenantId: string): Promise<readonly ConflictRow[]> {
  return trx.selectFrom("ipam_conflicts").selectAll().where("tenant_id", "=", tenantId).execute();
}

/** Notes conflicts that are new. */
export function addConflicts(trx: Trx, conflicts: readonly ConflictRow[]): Promise<void> {
  return insertMany(trx, "ipam_conflicts", conflicts);
}

/** Brings a conflict up to date. @param kinds What is wrong now, which is reported; null where nothing is. */
export async function setConflict(
  trx: Trx, { tenant_id, site_id, ip_key }: Pick<ConflictRow, "tenant_id" | "site_id" | "ip_key">, kinds: string | null,
): Promise<void> {
  if (kinds === null) {
    await trx.deleteFrom("ipam_conflicts").where("tenant_id", "=", tenant_id).where("site_id", "=", site_id).where("ip_key", "=", ip_key)
      .execute();
  } else {
    await trx.updateTable("ipam_conflicts").set({ published: 1, kinds }).where("tenant_id", "=", tenant_id).where("site_id", "=", site_id)
      .where("ip_key", "=", ip_key).execute();
  }
}

/** The tenants that have a plan, and those of whose plan a conflict is left. */
export async function tenantsWithPlan(reads: Kysely<Schema>): Promise<readonly string[]> {
  const rows = await reads.selectFrom("ipam_prefixes").select("tenant_id")
    .union(reads.selectFrom("ipam_addresses").select("tenant_id")).union(reads.selectFrom("ipam_conflicts").select("tenant_id")).execute();
  return rows.map(({ tenant_id: id }) => id);
}
