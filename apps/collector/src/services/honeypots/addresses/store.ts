import type { Insertable, Kysely, Selectable } from "kysely";
import { insertMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";

/** An address of a decoy as stored. */
export type DecoyAddressRow = Insertable<Schema["honeypot_addresses"]>;

/** What a probe reported. */
export function readDecoyAddressRows(db: Kysely<Schema>, probeId: string): Promise<readonly Selectable<Schema["honeypot_addresses"]>[]> {
  return db.selectFrom("honeypot_addresses").selectAll().where("probe_id", "=", probeId).execute();
}

/** Puts a probe's addresses in the place of those before. @param rows No address twice. */
export async function putDecoyAddresses(db: Kysely<Schema>, probeId: string, rows: readonly DecoyAddressRow[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom("honeypot_addresses").where("probe_id", "=", probeId).execute();
    await insertMany(trx, "honeypot_addresses", rows);
  });
}
