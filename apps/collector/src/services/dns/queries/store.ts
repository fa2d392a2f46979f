import { nextTurn } from "@lanthorn/runtime";
import { type Expression, type ExpressionBuilder, type Kysely, type Selectable, sql, type SqlBool, type Transaction } from "kysely";
import { siteExists } from "../../../db/locks/site-exists.ts";
import { selectIn } from "../../../db/query/select-in.ts";
import { upsertMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Rows } from "../../../gateway/page.ts";

/** Queries of a client in an hour that are alike. */
export type QueryRow = Selectable<Schema["dns_queries"]>;
/** What was asked in an hour in all. */
export type HourRow = Selectable<Schema["dns_query_hours"]>;
type Trx = Transaction<Schema>;

/** Rows that are looked at, or passed over whole, between two turns of the event loop: some milliseconds. */
const STRETCH = 2000;

/** Instants; until is not within. */
export interface Period {
  readonly since: string;
  readonly until: string;
}

/** Which rows are wanted. */
export interface QueryFilter extends Partial<Period> {
  readonly siteId?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly clientIp?: string | undefined;
  /** In lower case: this one and those below it. */
  readonly name?: string | undefined;
  readonly action?: string | undefined;
}

/** What resolvers were asked. */
export interface QueriesStore {
  /** Whether the tenant has the site. */
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** Newest first. */
  list(tenantId: string, filter: QueryFilter, rows: Rows): Promise<readonly QueryRow[]>;
  count(tenantId: string, filter: QueryFilter): Promise<number>;
  /** Of all sites, or of one, the oldest first. */
  hours(tenantId: string, siteId: string | undefined, period: Period): Promise<readonly HourRow[]>;
  /** Rows of an hour of a site, behind the one with this id. */
  ofHour(siteId: string, hour: string, rows: { readonly after: string; readonly limit: number }): Promise<readonly QueryRow[]>;
  /** Forgets rows of hours before this one, at most `limit`; with a site, only its own. @returns How many. */
  forget(what: { readonly before: string; readonly siteId: string | null; readonly limit: number }): Promise<number>;
}

/** Over the collector's database. */
export function createQueriesStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): QueriesStore {
  return {
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),

    async list(tenantId, filter, { from, limit }) {
      const found: QueryRow[] = [];
      let skip = typeof from === "number" ? from : 0;
      for await (const stretch of stretches(reads, tenantId, typeof from === "number" ? undefined : from)) {
        const rows = await reads.selectFrom("dns_queries").selectAll().where((eb) => matches(eb, tenantId, { ...filter, ...stretch })).orderBy("id", "desc")
          .limit(skip + limit - found.length).execute();
        found.push(...rows.slice(skip));
        skip = Math.max(0, skip - rows.length);
        if (found.length >= limit) break;
      }
      return found;
    },

    async count(tenantId, filter) {
      let total = 0;
      for await (const stretch of stretches(reads, tenantId)) {
        const some = await reads.selectFrom("dns_queries").select((eb) => eb.fn.countAll<number>().as("total"))
          .where((eb) => matches(eb, tenantId, { ...filter, ...stretch })).executeTakeFirstOrThrow();
        total += some.total;
      }
      return total;
    },

    hours(tenantId, siteId, { since, until }) {
      const query = reads.selectFrom("dns_query_hours").selectAll().where("tenant_id", "=", tenantId).where("hour", ">=", since).where("hour", "<", until);
      return (siteId === undefined ? query : query.where("site_id", "=", siteId)).orderBy("hour").orderBy("site_id").execute();
    },

    ofHour: (siteId, hour, { after, limit }) => reads.selectFrom("dns_queries").selectAll().where("site_id", "=", siteId).where("hour", "=", hour).where("id", ">", after)
      .orderBy("id").limit(limit).execute(),

    async forget({ before, siteId, limit }) {
      const old = reads.selectFrom("dns_queries").select("id").where("hour", "<", before).limit(limit);
      const ids = await (siteId === null ? old : old.where("site_id", "=", siteId)).execute();
      await selectIn(ids.map(({ id }) => id), async (list) => {
        await db.deleteFrom("dns_queries").where("id", "in", list).execute();
        return [];
      });
      if (ids.length < limit) {
        const hours = db.deleteFrom("dns_query_hours").where("hour", "<", before);
        await (siteId === null ? hours : hours.where("site_id", "=", siteId)).execute();
      }
      return ids.length;
    },
  };
}

/** What is there already of these hours of a site. */
export function readHours(trx: Trx, siteId: string, hours: readonly string[]): Promise<readonly HourRow[]> {
  return selectIn(hours, (list) => trx.selectFrom("dns_query_hours").selectAll().where("site_id", "=", siteId).where("hour", "in", list).execute());
}

/** How many rows are kept of a site. */
export async function countEntries(trx: Trx, siteId: string): Promise<number> {
  const { entries } = await trx.selectFrom("dns_query_hours").select((eb) => eb.fn.sum<number | null>("entries").as("entries")).where("site_id", "=", siteId).executeTakeFirstOrThrow();
  return entries ?? 0;
}

/** Rows by their keys. */
export function readByKeys(trx: Trx, keys: readonly string[]): Promise<readonly QueryRow[]> {
  return selectIn(keys, (list) => trx.selectFrom("dns_queries").selectAll().where("key", "in", list).execute());
}

/** The devices of a site that have these addresses now, by address. */
export async function devicesAt(trx: Trx, siteId: string, ips: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await selectIn(ips, (list) => trx.selectFrom("addresses").select(["ip", "device_id"]).where("site_id", "=", siteId).where("ip", "in", list).where("current", "=", 1)
    .orderBy("last_seen").execute());
  return new Map(rows.map(({ ip, device_id: id }) => [ip, id]));
}

/** Writes hours and rows as they are now. No key twice. */
export async function putQueries(trx: Trx, hours: readonly HourRow[], rows: readonly QueryRow[]): Promise<void> {
  const update = ["queries", "from_cache", "failed", "blocked", "observed", "left_out", "entries", "level", "reported_at"];
  if (hours.length > 0) await upsertMany(trx, "dns_query_hours", { key: ["site_id", "hour"], update }, hours.map((row) => ({ ...row })));
  if (rows.length > 0) await upsertMany(trx, "dns_queries", { key: ["key"], update: ["device_id", "times", "first_at", "last_at"] }, rows.map((row) => ({ ...row })));
}

/** Ids of rows that lie behind each other. */
interface Stretch {
  /** Null at the end. */
  readonly fromId: string | null;
  /** Not within; undefined at the begin. */
  readonly belowId: string | undefined;
}

/** All rows of a tenant, the newest first, in stretches of which each is read in some milliseconds; between them is a turn of the event loop. */
async function* stretches(reads: Kysely<Schema>, tenantId: string, below?: string): AsyncGenerator<Stretch> {
  for (let belowId = below; ;) {
    const ids = reads.selectFrom("dns_queries").select("id").where("tenant_id", "=", tenantId).orderBy("id", "desc").offset(STRETCH - 1).limit(1);
    const end = await (belowId === undefined ? ids : ids.where("id", "<", belowId)).executeTakeFirst();
    yield { fromId: end?.id ?? null, belowId };
    if (end === undefined) return;
    belowId = end.id;
    await nextTurn();
  }
}

function matches(eb: ExpressionBuilder<Schema, "dns_queries">, tenantId: string, { siteId, deviceId, clientIp, name, action, since, until, fromId, belowId }: QueryFilter & Stretch): Expression<SqlBool> {
  const all: Expression<SqlBool>[] = [eb("tenant_id", "=", tenantId)];
  if (fromId !== null) all.push(eb("id", ">=", fromId));
  if (belowId !== undefined) all.push(eb("id", "<", belowId));
  if (siteId !== undefined) all.push(eb("site_id", "=", siteId));
  if (deviceId !== undefined) all.push(eb("device_id", "=", deviceId));
  if (clientIp !== undefined) all.push(eb("client_ip", "=", clientIp));
  if (action !== undefined) all.push(eb("action", "=", action));
  // Not LIKE, in which `_` stands for any letter.
  if (name !== undefined) all.push(sql<SqlBool>`(name = ${name} or substr(name, length(name) - ${sql.lit(name.length)}) = ${`.${name}`})`);
  if (since !== undefined) all.push(eb("last_at", ">=", since));
  if (until !== undefined) all.push(eb("first_at", "<", until));
  return eb.and(all);
}
