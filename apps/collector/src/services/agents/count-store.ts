import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** How many probes of all tenants are in each state. */
export async function probesByState(reads: Kysely<Schema>): Promise<Readonly<Record<string, number>>> {
  const rows = await reads.selectFrom("probes").select((eb) => ["state", eb.fn.countAll<number>().as("probes")])
    .where("revoked_at", "is", null).groupBy("state").execute();
  return { enrolled: 0, online: 0, silent: 0, ...Object.fromEntries(rows.map(({ state, probes }) => [state, probes])) };
}
