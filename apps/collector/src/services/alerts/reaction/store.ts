import type { Selectable, Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { selectIn } from "../../../db/query/select-in.ts";
import { insertMany } from "../../../db/query/write-many.ts";

type Trx = Transaction<Schema>;
/** An alert as stored. `open_key` is unique and null once it is resolved; `quiet_at` is when silence resolves it; evidence is JSON text. */
export type AlertRow = Selectable<Schema["alerts"]>;

/** The alerts that are open under these keys, whatever their number: an outage's backlog may speak of hundreds at once. */
export function openAlerts(trx: Trx, keys: readonly string[]): Promise<readonly AlertRow[]> {
  return selectIn(keys, (list) => trx.selectFrom("alerts").selectAll().where("open_key", "in", list).execute());
}

/** Those of the ids that alerts have, of any tenant. */
export async function takenAlertIds(trx: Trx, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await selectIn(ids, (list) => trx.selectFrom("alerts").select("id").where("id", "in", list).execute());
  return rows.map(({ id }) => id);
}

/** Those of the probes that are there. */
export async function onlineProbes(trx: Trx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await selectIn(ids, (list) =>
    trx.selectFrom("probes").select("id").where("id", "in", list).where("state", "=", "online").where("revoked_at", "is", null).execute());
  return new Set(rows.map(({ id }) => id));
}

/** Writes alerts that have changed, then those that are new: one that is resolved has let go of its key by then. */
export async function saveAlerts(
  trx: Trx, { changed, added }: { readonly changed: readonly AlertRow[]; readonly added: readonly AlertRow[] },
): Promise<void> {
  for (const { id, tenant_id: _, first_seen: __, ...columns } of changed) {
    await trx.updateTable("alerts").set(columns).where("id", "=", id).execute();
  }
  await insertMany(trx, "alerts", added);
}

/**
 * When a tenant's alerts of these types began, newest first.
 * @param options.column `first_seen`: when their causes were first seen. `live_at`: when the first live event of each was received.
 * @param options.after Not included. @param options.until Included.
 */
export async function alertTimes(
  trx: Trx, tenantId: string, options: {
    readonly column: "first_seen" | "live_at"; readonly types: readonly string[]; readonly after: string; readonly until: string;
    readonly limit: number;
  },
): Promise<readonly { readonly siteId: string | null; readonly type: string; readonly at: string }[]> {
  const { column, types, after, until, limit } = options;
  const rows = await trx.selectFrom("alerts").select(["site_id", "type", `${column} as at`]).where("tenant_id", "=", tenantId)
    .where("type", "in", types).where(column, ">", after).where(column, "<=", until).orderBy(column, "desc").limit(limit).execute();
  return rows.map(({ site_id: siteId, type, at }) => ({ siteId, type, at: at ?? "" }));
}

/** How many alerts of a type at a site are not resolved. */
export async function countOpen(trx: Trx, siteId: string, type: string): Promise<number> {
  const row = await trx.selectFrom("alerts").select((eb) => eb.fn.countAll<number>().as("count")).where("site_id", "=", siteId)
    .where("type", "=", type).where("status", "in", ["open", "acknowledged"]).executeTakeFirstOrThrow();
  return row.count;
}

/** The mutes of a tenant that count at `now`. */
export function mutesAt(trx: Trx, tenantId: string, now: string): Promise<readonly Selectable<Schema["alert_mutes"]>[]> {
  return trx.selectFrom("alert_mutes").selectAll().where("tenant_id", "=", tenantId).where("expires_at", ">", now).execute();
}
