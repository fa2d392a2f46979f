import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";

/** To be called in the transaction of whatever changes which webhooks take which events. It locks the tenant's row until then. */
export async function subscriptionsChanged(trx: Kysely<Schema>, tenantId: string): Promise<void> {
  await trx.updateTable("tenants").set((eb) => ({ webhooks_revision: eb("webhooks_revision", "+", 1) })).where("id", "=", tenantId)
    .execute();
}

/** What is still on its way to a webhook that is not active any more has failed: a person may ask for it again. */
export async function cancelWaiting(trx: Kysely<Schema>, webhookId: string): Promise<void> {
  await trx.updateTable("webhook_deliveries")
    .set({ status: "failed", lane: null, retry_at: null, error: "inactive: the webhook was deactivated before the delivery" })
    .where("webhook_id", "=", webhookId).where("lane", "is not", null).execute();
}
