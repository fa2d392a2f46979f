import type { Insertable, Kysely, Selectable, Transaction, Updateable } from "kysely";
import { holdsText } from "../../../db/query/like.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Rows } from "../../../gateway/page.ts";

type Trx = Transaction<Schema>;

/** An API key with its maker's name. `scopes` is JSON text, `secret_sha256` the key's hash in hexadecimal. */
export type KeyRow = Selectable<Schema["api_keys"]> & { readonly username: string };

interface KeysFilter {
  readonly tenantId: string;
  /** Whose; of everybody when left out. */
  readonly userId?: string | undefined;
  /** Part of the name. */
  readonly search?: string | undefined;
  readonly scope?: string | undefined;
}

/** API keys of one tenant, or with `userId` of one user only: another's key is then the same as none. */
export interface KeysStore {
  /** In the order in which they were made. */
  list(filter: KeysFilter, rows: Rows): Promise<readonly KeyRow[]>;
  count(filter: KeysFilter): Promise<number>;
  byId(filter: KeysFilter, keyId: string): Promise<KeyRow | null>;
  /** As the transaction sees it; until it ends, no other changes it. */
  hold(trx: Trx, filter: KeysFilter, keyId: string): Promise<KeyRow | null>;
  update(trx: Trx, keyId: string, change: Updateable<Schema["api_keys"]>): Promise<void>;
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  countOf(trx: Trx, userId: string): Promise<number>;
  create(trx: Trx, key: Insertable<Schema["api_keys"]>): Promise<void>;
  /** @returns What it was, or null where there is no such key. */
  remove(trx: Trx, filter: KeysFilter, keyId: string): Promise<Selectable<Schema["api_keys"]> | null>;
}

/** A key that was read with `hold` stays locked until its transaction ends. */
export function createKeysStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): KeysStore {
  const keys = ({ tenantId, userId, search, scope }: KeysFilter, handle: Kysely<Schema> = reads) => {
    let query = handle.selectFrom("api_keys").where("api_keys.tenant_id", "=", tenantId);
    if (userId !== undefined) query = query.where("api_keys.user_id", "=", userId);
    if (search) query = query.where((eb) => holdsText(eb.ref("api_keys.name"), search));
    // A JSON list of names without quotes in them: a name with its quotes stands nowhere else.
    return scope === undefined ? query : query.where((eb) => holdsText(eb.ref("api_keys.scopes"), JSON.stringify(scope)));
  };
  const withMaker = (filter: KeysFilter, handle?: Kysely<Schema>) =>
    keys(filter, handle).innerJoin("users", "users.id", "api_keys.user_id").selectAll("api_keys").select("users.username");
  return {
    async byId(filter, keyId) {
      return (await withMaker(filter).where("api_keys.id", "=", keyId).executeTakeFirst()) ?? null;
    },
    async hold(trx, filter, keyId) {
      // A write of nothing: both databases lock the row by it, and SQLite knows no SELECT … FOR UPDATE.
      await trx.updateTable("api_keys").set((eb) => ({ name: eb.ref("name") })).where("id", "=", keyId).execute();
      return (await withMaker(filter, trx).where("api_keys.id", "=", keyId).executeTakeFirst()) ?? null;
    },
    async update(trx, keyId, change) {
      await trx.updateTable("api_keys").set(change).where("id", "=", keyId).execute();
    },
    list(filter, { from, limit }) {
      const query = withMaker(filter).orderBy("api_keys.id").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("api_keys.id", ">", from)).execute();
    },
    async count(filter) {
      return (await keys(filter).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },
    transaction: (work) => db.transaction().execute(work),
    async countOf(trx, userId) {
      const row = await trx.selectFrom("api_keys").select((eb) => eb.fn.countAll<number>().as("total"))
        .where("user_id", "=", userId).executeTakeFirstOrThrow();
      return row.total;
    },
    async create(trx, key) {
      await trx.insertInto("api_keys").values(key).execute();
    },
    async remove(trx, { tenantId, userId }, keyId) {
      const query = trx.deleteFrom("api_keys").where("tenant_id", "=", tenantId).where("id", "=", keyId);
      return (await (userId === undefined ? query : query.where("user_id", "=", userId)).returningAll().executeTakeFirst()) ?? null;
    },
  };
}
