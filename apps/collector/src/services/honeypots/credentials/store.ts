import type { Insertable, Kysely, Selectable, SelectQueryBuilder, Transaction } from "kysely";
import { siteExists } from "../../../db/locks/site-exists.ts";
import { insertMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Rows } from "../../../gateway/page.ts";

/** A credential that was tried, its password sealed. */
export type CredentialRow = Selectable<Schema["honeypot_credentials"]>;
/** One that is not there yet. */
export type NewCredential = Insertable<Schema["honeypot_credentials"]>;
type Trx = Transaction<Schema>;

/** Which credentials are wanted. */
export interface CredentialFilter {
  readonly siteId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly username?: string | undefined;
  readonly isBait?: boolean | undefined;
}

/** Credentials that were tried at decoys. */
export interface CredentialsStore {
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /** Newest first. */
  list(tenantId: string, filter: CredentialFilter, rows: Rows): Promise<readonly CredentialRow[]>;
  count(tenantId: string, filter: CredentialFilter): Promise<number>;
  byId(trx: Trx, tenantId: string, id: string): Promise<CredentialRow | null>;
}

/** Over the collector's database. */
export function createCredentialsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): CredentialsStore {
  return {
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    transaction: (work) => db.transaction().execute(work),
    list: (tenantId, filter, { from, limit }) => {
      const query = matching(reads, tenantId, filter).selectAll().orderBy("id", "desc").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", "<", from)).execute();
    },
    count: async (tenantId, filter) =>
      (await matching(reads, tenantId, filter).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total,
    byId: async (trx, tenantId, id) =>
      (await trx.selectFrom("honeypot_credentials").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()) ?? null,
  };
}

function matching(
  reads: Kysely<Schema>, tenantId: string, { siteId, sessionKey, username, isBait }: CredentialFilter,
): SelectQueryBuilder<Schema, "honeypot_credentials", object> {
  let query = reads.selectFrom("honeypot_credentials").where("tenant_id", "=", tenantId);
  if (siteId !== undefined) query = query.where("site_id", "=", siteId);
  if (sessionKey !== undefined) query = query.where("session_key", "=", sessionKey);
  if (username !== undefined) query = query.where("username", "=", username);
  return isBait === undefined ? query : query.where("is_bait", "=", isBait ? 1 : 0);
}

/** Forgets the oldest communities of a site beyond `most`, but for bait. SNMP comes from addresses that may be forged: however many are made up, passwords keep their room. */
export async function keepNewestCommunities(trx: Trx, siteId: string, most: number): Promise<void> {
  const communities = { site_id: siteId, service: "snmp", is_bait: 0 };
  const last = await trx.selectFrom("honeypot_credentials").select("id").where((eb) => eb.and(communities)).orderBy("id", "desc").offset(most).limit(1).executeTakeFirst();
  if (last) await trx.deleteFrom("honeypot_credentials").where((eb) => eb.and(communities)).where("id", "<=", last.id).execute();
}

/** Writes new ones. */
export async function addCredentials(trx: Trx, rows: readonly NewCredential[]): Promise<void> {
  await insertMany(trx, "honeypot_credentials", rows);
}
