import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";

/**
 * Finds where a period begins in a tenant's log. The log is in the order of receiving, but for a clock that was set back:
 * halving finds the place without an index of its own.
 * @returns The sequence of the first event that was received at `instant` or later; one past the last where there is none.
 */
export async function firstSince(reads: Kysely<Schema>, tenantId: string, instant: string): Promise<number> {
  const { first, last } = await reads.selectFrom("events")
    .select((eb) => [eb.fn.min<number | null>("seq").as("first"), eb.fn.max<number | null>("seq").as("last")])
    .where("tenant_id", "=", tenantId).executeTakeFirstOrThrow();
  let [low, high] = [first ?? 0, (last ?? -1) + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await reads.selectFrom("events").select("received_at").where("tenant_id", "=", tenantId).where("seq", ">=", middle)
      .orderBy("seq").limit(1).executeTakeFirst();
    if (row !== undefined && row.received_at < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}
