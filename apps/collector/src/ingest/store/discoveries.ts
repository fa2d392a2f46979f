import type { Transaction } from "kysely";
import { listQuery } from "../../db/query/list-query.ts";
import type { Schema } from "../../db/schema.ts";
import { upsertMany } from "../../db/query/write-many.ts";

type Row = Schema["site_discoveries"];

const discoveriesOf = listQuery((db, ids: readonly string[]) => db.selectFrom("site_discoveries").selectAll().where("site_id", "in", ids));

/** How many devices were found of late at these sites, by site. To be called with the sites held. */
export async function readDiscoveries(trx: Transaction<Schema>, siteIds: readonly string[]): Promise<ReadonlyMap<string, Row>> {
  return new Map((await discoveriesOf(trx, siteIds)).map((row) => [row.site_id, row]));
}

/** Writes what `readDiscoveries` read, as it is now. */
export function saveDiscoveries(trx: Transaction<Schema>, rows: readonly Row[]): Promise<void> {
  return upsertMany(
    trx, "site_discoveries", { key: ["site_id"], update: ["window_at", "found", "storm", "storm_since", "storm_until"] }, rows,
  );
}
