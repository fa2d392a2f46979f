import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** How many deliveries of all tenants wait in each lane. */
export async function waitingDeliveries(reads: Kysely<Schema>): Promise<Readonly<Record<string, number>>> {
  const rows = await reads.selectFrom("webhook_deliveries").select((eb) => ["lane", eb.fn.countAll<number>().as("deliveries")])
    .where("lane", "is not", null).groupBy("lane").execute();
  return { live: 0, retry: 0, replay: 0, ...Object.fromEntries(rows.map(({ lane, deliveries }) => [lane, deliveries])) };
}
