import type { EventType } from "@lanthorn/contract";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { BaselineRow } from "./baselines.ts";
import type { DifferenceRow } from "./differences.ts";

type Trx = Transaction<Schema>;

/** The ids of all tenants, and up to where each one's log was read; null where it never was. */
export function cursors(reads: Kysely<Schema>): Promise<readonly { readonly id: string; readonly seq: number | null }[]> {
  return reads.selectFrom("tenants").leftJoin("baseline_cursors", "baseline_cursors.tenant_id", "tenants.id")
    .select(["tenants.id", "baseline_cursors.seq"]).execute();
}

/** Notes up to where a tenant's log was read. */
export async function setCursor(trx: Trx, tenantId: string, seq: number): Promise<void> {
  await trx.insertInto("baseline_cursors").values({ tenant_id: tenantId, seq }).onConflict((conflict) => conflict.column("tenant_id").doUpdateSet({ seq }))
    .execute();
}

/** The devices and sites that a tenant's events of these types after `from`, up to `upTo`, are about. */
export function touched(
  reads: Kysely<Schema>, tenantId: string, { from, upTo, types }: { readonly from: number; readonly upTo: number; readonly types: readonly EventType[] },
): Promise<readonly { readonly type: string; readonly device_id: string | null; readonly site_id: string | null }[]> {
  return reads.selectFrom("events").select(["type", "device_id", "site_id"]).distinct().where("tenant_id", "=", tenantId).where("seq", ">", from)
    .where("seq", "<=", upTo).where("type", "in", types).execute();
}

/** Baselines of all tenants that are to be compared at `now`, those that wait for longest first. */
export function dueBaselines(reads: Kysely<Schema>, now: string, limit: number): Promise<readonly BaselineRow[]> {
  return reads.selectFrom("baselines").selectAll().where("compare_at", "<=", now).orderBy("compare_at").limit(limit).execute();
}

/** How many are. */
export async function countDue(reads: Kysely<Schema>, now: string): Promise<number> {
  const row = await reads.selectFrom("baselines").select((eb) => eb.fn.countAll<number>().as("count")).where("compare_at", "<=", now)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** These baselines are not compared before `at`. */
export async function postpone(db: Kysely<Schema>, baselineIds: readonly string[], at: string): Promise<void> {
  await db.updateTable("baselines").set({ compare_at: at }).where("id", "in", baselineIds).execute();
}

/** Differences that have not ended, with an `open_key` after `after`, in its order, with whether what they are of is still there. */
export function standingAfter(reads: Kysely<Schema>, after: string, limit: number): Promise<
  readonly (DifferenceRow & { readonly baseline: string | null; readonly device: string | null })[]
> {
  return reads.selectFrom("baseline_differences").leftJoin("baselines", "baselines.id", "baseline_differences.baseline_id")
    .leftJoin("devices", "devices.id", "baseline_differences.device_id").selectAll("baseline_differences")
    .select(["baselines.id as baseline", "devices.id as device"]).where("open_key", ">", after).orderBy("open_key")
    .limit(limit).execute();
}

/** Forgets differences that ended before `before`. @returns How many, at most `limit`. */
export async function forgetEnded(db: Kysely<Schema>, before: string, limit: number): Promise<number> {
  const old = await db.selectFrom("baseline_differences").select("id").where("ended_at", "<", before).limit(limit).execute();
  if (old.length > 0) await db.deleteFrom("baseline_differences").where("id", "in", old.map(({ id }) => id)).execute();
  return old.length;
}

/** Forgets a tenant's oldest differences that have ended, beyond `keep`. @returns How many, at most `limit`. */
export async function forgetBeyond(db: Kysely<Schema>, tenantId: string, keep: number, limit: number): Promise<number> {
  const ended = db.selectFrom("baseline_differences").select("id").where("tenant_id", "=", tenantId).where("state", "=", "ended");
  const last = await ended.orderBy("id", "desc").offset(keep).limit(1).executeTakeFirst();
  if (!last) return 0;
  const old = await ended.where("id", "<=", last.id).orderBy("id").limit(limit).execute();
  await db.deleteFrom("baseline_differences").where("id", "in", old.map(({ id }) => id)).execute();
  return old.length;
}

/** How many facts these baselines have, by kind. */
export async function countFacts(reads: Kysely<Schema>, baselineIds: readonly string[]): Promise<readonly { readonly kind: string; readonly count: number }[]> {
  return reads.selectFrom("baseline_facts").select((eb) => ["kind", eb.fn.countAll<number>().as("count")]).where("baseline_id", "in", baselineIds)
    .groupBy("kind").execute();
}

/** Baselines of a site with a scope after `after`, in the order of their scopes; from its own one on where that is null. */
export function pageOfSite(
  reads: Kysely<Schema>, siteId: string, after: string | null, limit: number,
): Promise<readonly Pick<BaselineRow, "id" | "scope">[]> {
  const query = reads.selectFrom("baselines").select(["id", "scope"]).where("site_id", "=", siteId);
  return (after === null ? query : query.where("scope", ">", after)).orderBy("scope").limit(limit).execute();
}

/** Facts of sites that are about devices, after `after`, in the order of their keys, with whether the device is still there. */
export function memberFactsAfter(
  reads: Kysely<Schema>, siteBaselineId: string, after: string, limit: number,
): Promise<readonly { readonly key: string; readonly device: string | null }[]> {
  return reads.selectFrom("baseline_facts").leftJoin("devices", "devices.id", "baseline_facts.key").select(["baseline_facts.key", "devices.id as device"])
    .where("baseline_id", "=", siteBaselineId).where("kind", "=", "device").where("key", ">", after).orderBy("key").limit(limit).execute();
}

/** The baselines of all sites. */
export function siteBaselines(reads: Kysely<Schema>): Promise<readonly Pick<BaselineRow, "id" | "tenant_id" | "site_id" | "state" | "learning_until">[]> {
  return reads.selectFrom("baselines").select(["id", "tenant_id", "site_id", "state", "learning_until"]).where("scope", "=", "").orderBy("id").execute();
}
