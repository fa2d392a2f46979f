import type { EventType } from "@lanthorn/contract";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import { insertMany } from "../db/query/write-many.ts";

/** An event as it lies in the log. `data` is JSON text. */
export type StoredEvent = Schema["events"];

/** Where rows were put in the tenant's order, and what of the tenant was read with it. */
interface Numbered {
  /** The tenant's last sequence: the one of the last row. */
  readonly toSeq: number;
  readonly webhooksRevision: number;
}

/**
 * Writes rows of one tenant with its next sequence numbers, which it puts into them. The tenant's row stays locked until the transaction
 * ends.
 * @param bytes By how much the tenant's log grows.
 */
export async function appendRows(
  trx: Transaction<Schema>, tenantId: string, rows: readonly StoredEvent[], bytes: number,
): Promise<Numbered> {
  const { last_event_seq: toSeq, webhooks_revision: webhooksRevision } = await trx.updateTable("tenants")
    .set((eb) => ({ last_event_seq: eb("last_event_seq", "+", rows.length), event_bytes: eb("event_bytes", "+", bytes) }))
    .where("id", "=", tenantId).returning(["last_event_seq", "webhooks_revision"]).executeTakeFirstOrThrow();
  rows.forEach((row, index) => {
    row.seq = toSeq - rows.length + 1 + index;
  });
  await insertMany(trx, "events", rows);
  return { toSeq, webhooksRevision };
}

/** A tenant's events after `seq` and not after `upTo`, in order, at most `limit`; with `types`, only those. */
export function readEvents(
  reads: Kysely<Schema>, tenantId: string, seq: number,
  { upTo, limit, types }: { readonly upTo: number; readonly limit: number; readonly types?: readonly EventType[] },
): Promise<readonly StoredEvent[]> {
  let query = reads.selectFrom("events").selectAll().where("tenant_id", "=", tenantId).where("seq", ">", seq).where("seq", "<=", upTo);
  if (types) query = query.where("type", "in", types);
  return query.orderBy("seq").limit(limit).execute();
}

/** The oldest sequence of a tenant that is kept (one past the last when nothing is) and the last one given out. */
export async function eventReach(reads: Kysely<Schema>, tenantId: string): Promise<{ readonly first: number; readonly last: number }> {
  const row = await reads.selectFrom("tenants")
    .select((eb) => [
      "last_event_seq",
      eb.selectFrom("events").select((e) => e.fn.min<number | null>("seq").as("seq")).where("tenant_id", "=", tenantId).as("first"),
    ])
    .where("id", "=", tenantId).executeTakeFirst();
  const last = row?.last_event_seq ?? 0;
  return { first: row?.first ?? last + 1, last };
}
