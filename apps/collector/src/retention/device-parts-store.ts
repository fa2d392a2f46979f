import { type Kysely, sql, type SqlBool, type Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";

/** The tables of which a device has many rows, and what tells its rows apart and which of them is newer. */
const PARTS = {
  device_changes: { key: ["id"], newest: "id" },
  addresses: { key: ["mac", "ip"], newest: "last_seen" },
  evidence: { key: ["field", "source", "value"], newest: "seen_at" },
  ports: { key: ["port", "protocol"], newest: "last_scanned" },
  device_keys: { key: ["key"], newest: "first_seen" },
  port_looks: { key: ["scope_id"], newest: "looked_at" },
} as const satisfies Partial<{ readonly [T in keyof Schema]: {
  readonly key: readonly (keyof Schema[T])[]; readonly newest: keyof Schema[T];
} }>;

type LimitedPart = keyof typeof PARTS;

/** What a device may keep. */
export interface DeviceLimits {
  /** Changes, and addresses that it has no more. */
  readonly keepDays: number;
  /** Rows of each table; of addresses, those that it has no more. */
  readonly keep: Readonly<Record<LimitedPart, number>>;
}

/** In one transaction: some milliseconds, in which ingest waits. */
const CHUNK_ROWS = 500;

type Rows = Record<LimitedPart, Record<string, string | number>>;

/** At most `limit` ids of devices that were seen since an instant, in order, after the id `after`. */
export async function deviceIdsSince(
  reads: Kysely<Schema>, { since, after, limit }: { readonly since: string; readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await reads.selectFrom("devices").select("id").where("id", ">", after).where("last_seen", ">=", since).orderBy("id")
    .limit(limit).execute();
  return rows.map(({ id }) => id);
}

/**
 * Forgets, of some devices, what is too old or too much; the oldest goes first.
 * @param before Changes and old addresses before this instant go.
 * @returns How many rows went.
 */
export async function limitDevices(db: Kysely<Schema>, ids: readonly string[], limits: DeviceLimits, before: string): Promise<number> {
  if (ids.length === 0) return 0;
  const changes = await db.deleteFrom("device_changes").where("device_id", "in", ids).where("at", "<", before).executeTakeFirst();
  const addresses = await db.deleteFrom("addresses").where("device_id", "in", ids).where("current", "=", 0).where("last_seen", "<", before)
    .executeTakeFirst();
  let total = Number(changes.numDeletedRows + addresses.numDeletedRows);
  for (const part of Object.keys(PARTS) as LimitedPart[]) {
    for (const deviceId of await tooLarge(db, part, ids, limits.keep[part])) total += await limitOne(db, part, deviceId, limits.keep[part]);
  }
  return total;
}

/**
 * Forgets, of some devices, what is too much, as part of a transaction that writes to them.
 * @param ids Few: all that goes, goes at once.
 */
export async function trimDevices(trx: Transaction<Schema>, ids: readonly string[], keep: DeviceLimits["keep"]): Promise<void> {
  if (ids.length === 0) return;
  for (const part of Object.keys(PARTS) as LimitedPart[]) {
    for (const deviceId of await tooLarge(trx, part, ids, keep[part])) {
      while (await forgetOldest(trx, part, deviceId, keep[part]) === CHUNK_ROWS);
    }
  }
}

async function tooLarge(db: Kysely<Schema>, part: LimitedPart, ids: readonly string[], keep: number): Promise<readonly string[]> {
  let query = rowsOf(db).selectFrom(part).select("device_id").where("device_id", "in", ids);
  if (part === "addresses") query = query.where("current", "=", 0);
  const rows = await query.groupBy("device_id").having((eb) => eb.fn.countAll(), ">", keep).execute();
  return rows.map((row) => String(row["device_id"]));
}

async function limitOne(db: Kysely<Schema>, part: LimitedPart, deviceId: string, keep: number): Promise<number> {
  let total = 0;
  for (;;) {
    const went = await db.transaction().execute((trx) => forgetOldest(trx, part, deviceId, keep));
    total += went;
    if (went < CHUNK_ROWS) return total;
  }
}

/** Forgets, of the rows beyond the newest `keep`, at most `CHUNK_ROWS`. @returns How many went. */
async function forgetOldest(trx: Transaction<Schema>, part: LimitedPart, deviceId: string, keep: number): Promise<number> {
  // The key too, so that rows of one moment have an order.
  const columns = [...new Set<string>([PARTS[part].newest, ...PARTS[part].key])];
  let query = rowsOf(trx).selectFrom(part).select(columns).where("device_id", "=", deviceId);
  if (part === "addresses") query = query.where("current", "=", 0);
  for (const column of columns) query = query.orderBy(column, "desc");
  const rows = await query.offset(keep).limit(CHUNK_ROWS).execute();
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (newest === undefined || oldest === undefined) return 0;
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const valuesOf = (row: Rows[LimitedPart]) => sql.join(columns.map((column) => row[column]));
  let gone = rowsOf(trx).deleteFrom(part).where("device_id", "=", deviceId)
    .where(sql<SqlBool>`(${names}) <= (${valuesOf(newest)})`).where(sql<SqlBool>`(${names}) >= (${valuesOf(oldest)})`);
  if (part === "addresses") gone = gone.where("current", "=", 0);
  await gone.execute();
  return rows.length;
}

/** The tables as of rows of texts and numbers, since a column's name is only known when it runs. */
function rowsOf(db: Kysely<Schema> | Transaction<Schema>): Kysely<Rows> {
  return db as unknown as Kysely<Rows>;
}
