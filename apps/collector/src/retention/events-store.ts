import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";
import { ROW_OVERHEAD_BYTES } from "../events/log.ts";

/** The ids of all tenants. */
export async function tenantIds(reads: Kysely<Schema>): Promise<readonly string[]> {
  return (await reads.selectFrom("tenants").select("id").execute()).map(({ id }) => id);
}

/**
 * Forgets, of a tenant's oldest `limit` events, those received before `before` and those beyond `keepBytes`, in one transaction.
 * @returns How many went.
 */
export function forgetEvents(
  db: Kysely<Schema>, tenantId: string, { before, keepBytes, limit }: { readonly before: string; readonly keepBytes: number; readonly limit: number },
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { event_bytes: held } = await trx.selectFrom("tenants").select("event_bytes").where("id", "=", tenantId)
      .executeTakeFirstOrThrow();
    const oldest = await trx.selectFrom("events").select(["seq", "received_at", "data"]).where("tenant_id", "=", tenantId).orderBy("seq")
      .limit(limit).execute();
    let freed = 0;
    let count = 0;
    for (const { received_at, data } of oldest) {
      if (received_at >= before && held - freed <= keepBytes) break;
      freed += ROW_OVERHEAD_BYTES + data.length;
      count += 1;
    }
    const last = oldest[count - 1];
    if (last === undefined) return 0;
    const { numDeletedRows } = await trx.deleteFrom("events").where("tenant_id", "=", tenantId).where("seq", "<=", last.seq)
      .executeTakeFirst();
    // Another process has been at it at the same moment, and has counted.
    if (numDeletedRows === 0n) return 0;
    await trx.updateTable("tenants").set((eb) => ({ event_bytes: eb("event_bytes", "-", freed) })).where("id", "=", tenantId).execute();
    return count;
  });
}
