import { type Kysely, type Selectable, sql } from "kysely";
import type { Schema } from "../db/schema.ts";

interface Handles {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
}

/** A rejected event by its key, and how many bytes it takes. */
export interface RejectedEvent extends Pick<Selectable<Schema["rejected_events"]>, "probe_id" | "queue_id" | "probe_seq"> {
  readonly bytes: number;
}

/**
 * Forgets, of a tenant's oldest `limit` audit records, those before an instant and those beyond the newest `keepRecords`.
 * @param which.isCounted Of the records that are counted by the hour, or of all others.
 * @returns How many went.
 */
export async function forgetAuditRecords({ db, reads }: Handles, tenantId: string, which: {
  readonly isCounted: boolean; readonly before: string; readonly keepRecords: number; readonly limit: number;
}): Promise<number> {
  const of = () => reads.selectFrom("audit").where("tenant_id", "=", tenantId).where("window_key", which.isCounted ? "is not" : "is", null);
  const beyond = await of().select("id").orderBy("id", "desc").offset(which.keepRecords).limit(1).executeTakeFirst();
  const oldest = await of().select(["id", "at"]).orderBy("id").limit(which.limit).execute();
  const gone = oldest.filter(({ id, at }) => at < which.before || id <= (beyond?.id ?? "")).map(({ id }) => id);
  if (gone.length > 0) await db.deleteFrom("audit").where("id", "in", gone).execute();
  return gone.length;
}

/** How many bytes of rejected events each of a tenant's probes has. */
export async function rejectedBytes(
  reads: Kysely<Schema>, tenantId: string,
): Promise<readonly { readonly probeId: string; readonly bytes: number }[]> {
  const rows = await reads.selectFrom("rejected_events").select("probe_id")
    .select(sql<number | string>`sum(length(payload) + length(reason))`.as("bytes")).where("tenant_id", "=", tenantId).groupBy("probe_id")
    .execute();
  return rows.map(({ probe_id: probeId, bytes }) => ({ probeId, bytes: Number(bytes) }));
}

/** A tenant's rejected events, oldest first: with `before`, those received earlier; with `probeId`, those of one probe. */
export function oldestRejected(
  reads: Kysely<Schema>, tenantId: string,
  { limit, before, probeId }: { readonly limit: number; readonly before?: string; readonly probeId?: string },
): Promise<readonly RejectedEvent[]> {
  let query = reads.selectFrom("rejected_events").select(["probe_id", "queue_id", "probe_seq"])
    .select(sql<number>`length(payload) + length(reason)`.as("bytes")).where("tenant_id", "=", tenantId);
  if (before !== undefined) query = query.where("received_at", "<", before);
  if (probeId !== undefined) query = query.where("probe_id", "=", probeId);
  return query.orderBy("received_at").orderBy("probe_seq").limit(limit).execute();
}

/** Forgets rejected events, all in one transaction. */
export async function forgetRejected(db: Kysely<Schema>, gone: readonly RejectedEvent[]): Promise<void> {
  if (gone.length === 0) return;
  await db.transaction().execute(async (trx) => {
    for (const { probe_id, queue_id, probe_seq } of gone) {
      await trx.deleteFrom("rejected_events").where("probe_id", "=", probe_id).where("queue_id", "=", queue_id)
        .where("probe_seq", "=", probe_seq).execute();
    }
  });
}

/** The ids of probes that have had more than `keep` queues. */
export async function probesOfManyQueues(reads: Kysely<Schema>, keep: number): Promise<readonly string[]> {
  const rows = await reads.selectFrom("probe_queues").select("probe_id").groupBy("probe_id").having((eb) => eb.fn.countAll(), ">", keep)
    .execute();
  return rows.map(({ probe_id: id }) => id);
}

/** When the last of a probe's `keep` newest queues was moved. There are as many: see `probesOfManyQueues`. */
export async function oldestKeptQueue(reads: Kysely<Schema>, probeId: string, keep: number): Promise<string> {
  const row = await reads.selectFrom("probe_queues").select("updated_at").where("probe_id", "=", probeId).orderBy("updated_at", "desc")
    .offset(keep - 1).limit(1).executeTakeFirstOrThrow();
  return row.updated_at;
}

/** Forgets at most `limit` of a probe's queues that were moved last before an instant. @returns How many went. */
export async function forgetQueues(
  { db, reads }: Handles, probeId: string, { before, limit }: { readonly before: string; readonly limit: number },
): Promise<number> {
  const old = await reads.selectFrom("probe_queues").select("queue_id").where("probe_id", "=", probeId).where("updated_at", "<", before)
    .orderBy("updated_at").limit(limit).execute();
  if (old.length === 0) return 0;
  await db.deleteFrom("probe_queues").where("probe_id", "=", probeId).where("queue_id", "in", old.map(({ queue_id: id }) => id))
    .where("updated_at", "<", before).execute();
  return old.length;
}
