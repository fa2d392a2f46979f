import { type Kysely, type Selectable, type SelectQueryBuilder, sql, type SqlBool, type Transaction } from "kysely";
import { siteExists } from "../../../db/locks/site-exists.ts";
import { selectIn } from "../../../db/query/select-in.ts";
import { upsertMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Rows } from "../../../gateway/page.ts";

/** What a source did with a decoy. */
export type SessionRow = Selectable<Schema["honeypot_sessions"]>;
/** How far it went, by one report. */
export type RungRow = Selectable<Schema["honeypot_rungs"]>;
type Trx = Transaction<Schema>;

/** Which sessions are wanted. */
export interface SessionFilter {
  readonly siteId?: string | undefined;
  readonly decoy?: string | undefined;
  readonly sourceIp?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly stage?: string | undefined;
  readonly isTest?: boolean | undefined;
  /** Instants; until is not within. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Sessions at decoys. */
export interface SessionsStore {
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** Newest first. */
  list(tenantId: string, filter: SessionFilter, rows: Rows): Promise<readonly SessionRow[]>;
  count(tenantId: string, filter: SessionFilter): Promise<number>;
  byId(tenantId: string, id: string): Promise<SessionRow | null>;
  /** In the order of their reports. */
  rungs(sessionId: string): Promise<readonly RungRow[]>;
  /** Ids by keys. */
  idsOf(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Over the collector's database. */
export function createSessionsStore({ reads }: { readonly reads: Kysely<Schema> }): SessionsStore {
  return {
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    list: (tenantId, filter, { from, limit }) => {
      const query = matching(reads, tenantId, filter).selectAll().orderBy("id", "desc").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", "<", from)).execute();
    },
    count: async (tenantId, filter) =>
      (await matching(reads, tenantId, filter).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total,
    byId: async (tenantId, id) =>
      (await reads.selectFrom("honeypot_sessions").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()) ?? null,
    rungs: (sessionId) => reads.selectFrom("honeypot_rungs").selectAll().where("session_id", "=", sessionId).orderBy("at").orderBy("event_id").execute(),
    idsOf: async (keys) =>
      new Map((await selectIn([...new Set(keys)], (list) => reads.selectFrom("honeypot_sessions").select(["id", "key"]).where("key", "in", list).execute())).map(({ id, key }) => [key, id])),
  };
}

function matching(
  reads: Kysely<Schema>, tenantId: string, { siteId, decoy, sourceIp, deviceId, stage, isTest, since, until }: SessionFilter,
): SelectQueryBuilder<Schema, "honeypot_sessions", object> {
  let query = reads.selectFrom("honeypot_sessions").where("tenant_id", "=", tenantId);
  if (siteId !== undefined) query = query.where("site_id", "=", siteId);
  if (decoy !== undefined) query = query.where("decoy", "=", decoy);
  if (sourceIp !== undefined) query = query.where("source_ip", "=", sourceIp);
  if (deviceId !== undefined) query = query.where("device_id", "=", deviceId);
  if (stage !== undefined) query = query.where("stage", "=", stage);
  if (isTest !== undefined) query = query.where("is_test", "=", isTest ? 1 : 0);
  if (since !== undefined) query = query.where("last_at", ">=", since);
  if (until !== undefined) query = query.where("started_at", "<", until);
  return query;
}

/** What is known of these sessions, by their keys. */
export function readSessions(trx: Trx, keys: readonly string[]): Promise<readonly SessionRow[]> {
  return selectIn(keys, (list) => trx.selectFrom("honeypot_sessions").selectAll().where("key", "in", list).execute());
}

const CHANGING = ["device_id", "source_mac", "stage", "severity", "services", "usernames", "connections", "credentials", "mitre_techniques", "detail", "last_at"];

/** Writes sessions and their new rungs as they are now. No key twice. */
export async function putSessions(trx: Trx, sessions: readonly SessionRow[], rungs: readonly RungRow[]): Promise<void> {
  await upsertMany(trx, "honeypot_sessions", { key: ["key"], update: CHANGING }, sessions.map((row) => ({ ...row })));
  if (rungs.length > 0) await upsertMany(trx, "honeypot_rungs", { key: ["session_id", "stage"], update: ["detail"] }, rungs.map((row) => ({ ...row })));
}

/** Forgets the oldest of a site's rows beyond `most`. @param kind Of evidence: only this. */
export async function keepNewest(trx: Trx, table: "honeypot_sessions" | "honeypot_credentials" | "honeypot_evidence", siteId: string, most: number, kind?: "transcript"): Promise<void> {
  const isMeant = sql<SqlBool>`site_id = ${siteId}${kind === undefined ? sql`` : sql` and kind = ${kind}`}`;
  const last = await trx.selectFrom(table).select("id").where(isMeant).orderBy("id", "desc").offset(most).limit(1).executeTakeFirst();
  if (last) await trx.deleteFrom(table).where(isMeant).where("id", "<=", last.id).execute();
}
