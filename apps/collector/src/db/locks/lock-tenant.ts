import type { Kysely, Transaction } from "kysely";
import { commitUnflushed } from "../query/unflushed.ts";
import type { Schema } from "../schema.ts";

/**
 * Holds the tenant until the transaction ends, as appending to its event log does. Who reads rows that events change, and
 * then appends, calls this first: on PostgreSQL two that lock in different orders would wait for each other.
 */
export async function lockTenant(trx: Transaction<Schema>, tenantId: string): Promise<void> {
  await trx.updateTable("tenants").set((eb) => ({ last_event_seq: eb.ref("last_event_seq") })).where("id", "=", tenantId).execute();
}

/**
 * Work in a transaction that holds the tenant from its begin: nothing else is appended to its log or decided in its turn meanwhile.
 * @param options.isUnflushed Whether its commit need not wait for the disk: see `commitUnflushed`.
 */
export function inTurn<T>(
  db: Kysely<Schema>, tenantId: string, work: (trx: Transaction<Schema>) => Promise<T>, { isUnflushed = false }: { readonly isUnflushed?: boolean } = {},
): Promise<T> {
  const held = async (trx: Transaction<Schema>) => {
    await lockTenant(trx, tenantId);
    return work(trx);
  };
  return isUnflushed ? commitUnflushed(db, held) : db.transaction().execute(held);
}
