import type { Selectable, Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import { insertMany } from "../db/query/write-many.ts";

type Trx = Transaction<Schema>;

/** A tenant's active webhooks in the order of their ids, with the webhook events that each takes. */
export async function activeWebhooks(
  trx: Trx, tenantId: string,
): Promise<readonly { readonly id: string; readonly events: ReadonlySet<string> }[]> {
  const rows = await trx.selectFrom("webhooks").select(["id", "events"]).where("tenant_id", "=", tenantId).where("active", "=", 1)
    .orderBy("id").execute();
  return rows.map(({ id, events }) => ({ id, events: new Set(JSON.parse(events) as string[]) }));
}

/** Adds deliveries that wait for their first attempt. */
export function addDeliveries(trx: Trx, deliveries: readonly Selectable<Schema["webhook_deliveries"]>[]): Promise<void> {
  return insertMany(trx, "webhook_deliveries", deliveries);
}
