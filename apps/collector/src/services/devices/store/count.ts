import type { Kysely } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** How many devices of all tenants are online and offline. */
export async function devicesByPresence(reads: Kysely<Schema>): Promise<Readonly<Record<string, number>>> {
  const rows = await reads.selectFrom("device_counts").select((eb) => ["is_online", eb.fn.sum<number | null>("devices").as("devices")])
    .groupBy("is_online").execute();
  const count = (isOnline: number) => rows.find((row) => row.is_online === isOnline)?.devices ?? 0;
  return { online: count(1), offline: count(0) };
}
