import type { Insertable, Kysely, Selectable, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Rows } from "../../gateway/page.ts";

type Trx = Transaction<Schema>;

export type KeyRow = Selectable<Schema["api_keys"]> & { readonly username: string };

export interface KeysFilter {
  readonly tenantId: string;
  /** Whose; of everybody when left out. */
  readonly userId?: string | undefined;
}

export interface KeysStore {
  /** In the order in which they were made. */
  list(filter: KeysFilter, rows: Rows): Promise<readonly KeyRow[]>;
  count(filter: KeysFilter): Promise<number>;
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  countOf(trx: Trx, userId: string): Promise<number>;
  create(trx: Trx, key: Insertable<Schema["api_keys"]>): Promise<void>;
  /** @returns What it was, or null where there is no such key. */
  remove(trx: Trx, filter: KeysFilter, keyId: string): Promise<Selectable<Schema["api_keys"]> | null>;
}

export function createKeysStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): KeysStore {
  const keys = ({ tenantId, userId }: KeysFilter) => {
    const query = reads.selectFrom("api_keys").where("api_keys.tenant_id", "=", tenantId);
    return userId === undefined ? query : query.where("api_keys.user_id", "=", userId);
  };
  return {
    list(filter, { from, limit }) {
      const query = keys(filter).innerJoin("users", "users.id", "api_keys.user_id").selectAll("api_keys").select("users.username")
        .orderBy("api_keys.id").limit(limit);
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
