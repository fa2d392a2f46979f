import type { EventType } from "@lanthorn/contract";
import type { Kysely, Selectable, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { insertMany } from "../../db/query/write-many.ts";

/** Events that are to be replayed to a webhook: of a tenant, of these types, from one sequence to before another. */
export interface Wanted {
  readonly tenantId: string;
  readonly webhookId: string;
  readonly from: number;
  readonly to: number;
  readonly types: readonly EventType[];
}

function wanted(handle: Kysely<Schema>, { tenantId, webhookId, from, to, types }: Wanted) {
  return handle.selectFrom("events as e").where("e.tenant_id", "=", tenantId).where("e.seq", ">=", from).where("e.seq", "<", to)
    .where("e.type", "in", types)
    .where((eb) => eb.not(eb.exists(eb.selectFrom("webhook_deliveries as d").select("d.id")
      .where("d.webhook_id", "=", webhookId).where("d.lane", "=", "replay").whereRef("d.event_seq", "=", "e.seq"))));
}

/** How many there are that are not replayed already. */
export async function countWanted(reads: Kysely<Schema>, which: Wanted): Promise<number> {
  return (await wanted(reads, which).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
}

/** Those after the sequence `after`, in order, at most `limit`. */
export function readWanted(
  trx: Transaction<Schema>, which: Wanted, { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly Pick<Selectable<Schema["events"]>, "id" | "tenant_id" | "type" | "seq">[]> {
  return wanted(trx, which).select(["e.id", "e.tenant_id", "e.type", "e.seq"]).where("e.seq", ">", after).orderBy("e.seq").limit(limit)
    .execute();
}

/** Adds deliveries to the lane of replays. */
export function addReplays(trx: Transaction<Schema>, deliveries: readonly Selectable<Schema["webhook_deliveries"]>[]): Promise<void> {
  return insertMany(trx, "webhook_deliveries", deliveries);
}
