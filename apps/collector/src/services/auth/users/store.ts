import type { Insertable, Kysely, Transaction, Updateable } from "kysely";
import { holdsText } from "../../../db/query/like.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Rows } from "../../../gateway/page.ts";
import { asUser, checked, type UserRow } from "../store.ts";

type Trx = Transaction<Schema>;

/** Which of a tenant's users a list shows. */
interface UsersFilter {
  readonly tenantId: string;
  /** Part of the name or the e-mail address. */
  readonly search?: string | undefined;
  readonly role?: string | undefined;
}

/** A tenant's users. Methods with `trx` see the transaction's own writes, the others only what is committed. */
export interface UsersStore {
  /** In the order in which they were made. */
  list(filter: UsersFilter, rows: Rows): Promise<readonly UserRow[]>;
  count(filter: UsersFilter): Promise<number>;
  byId(tenantId: string, userId: string): Promise<UserRow | null>;
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /** Until the transaction ends, no other changes the tenant's users: two administrators cannot demote each other at the same moment. */
  holdTenant(trx: Trx, tenantId: string): Promise<void>;
  /** What the names of users that the tenant makes end with, behind an `@`; null where they may be any. */
  loginDomain(tenantId: string): Promise<string | null>;
  /** As the transaction sees it. */
  find(trx: Trx, tenantId: string, userId: string): Promise<UserRow | null>;
  countAdmins(trx: Trx, tenantId: string): Promise<number>;
  /** Fails by the name's constraint when anybody has this name, of whatever tenant: people log in by the name alone. */
  create(trx: Trx, user: Insertable<Schema["users"]>): Promise<UserRow>;
  update(trx: Trx, userId: string, change: Updateable<Schema["users"]>): Promise<UserRow>;
  /** With the user's API keys and tickets. @returns The ids of those keys. */
  remove(trx: Trx, userId: string): Promise<readonly string[]>;
}

/** A user name that is taken, also in another tenant, is thrown as the database's own error; see `isDuplicate`. */
export function createUsersStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): UsersStore {
  const users = ({ tenantId, search, role }: UsersFilter) => {
    let query = reads.selectFrom("users").where("tenant_id", "=", tenantId);
    if (role !== undefined) query = query.where("role", "=", role);
    if (search) query = query.where((eb) => eb.or([
      holdsText(eb.ref("username"), search), holdsText(eb.fn.coalesce("email", eb.val("")), search),
    ]));
    return query;
  };
  return {
    async list(filter, { from, limit }) {
      const query = users(filter).selectAll().orderBy("id").limit(limit);
      return (await (typeof from === "number" ? query.offset(from) : query.where("id", ">", from)).execute()).map(checked);
    },
    async count(filter) {
      return (await users(filter).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },
    async byId(tenantId, userId) {
      return asUser(
        await reads.selectFrom("users").selectAll().where("tenant_id", "=", tenantId).where("id", "=", userId).executeTakeFirst(),
      );
    },
    async loginDomain(tenantId) {
      const tenant = await reads.selectFrom("tenants").select("login_domain").where("id", "=", tenantId).executeTakeFirst();
      return tenant?.login_domain ?? null;
    },
    transaction: (work) => db.transaction().execute(work),
    async holdTenant(trx, tenantId) {
      await trx.updateTable("tenants").set((eb) => ({ name: eb.ref("name") })).where("id", "=", tenantId).execute();
    },
    async find(trx, tenantId, userId) {
      return asUser(
        await trx.selectFrom("users").selectAll().where("tenant_id", "=", tenantId).where("id", "=", userId).executeTakeFirst(),
      );
    },
    async countAdmins(trx, tenantId) {
      const row = await trx.selectFrom("users").select((eb) => eb.fn.countAll<number>().as("total"))
        .where("tenant_id", "=", tenantId).where("role", "=", "admin").executeTakeFirstOrThrow();
      return row.total;
    },
    async create(trx, user) {
      return checked(await trx.insertInto("users").values(user).returningAll().executeTakeFirstOrThrow());
    },
    async update(trx, userId, change) {
      return checked(await trx.updateTable("users").set(change).where("id", "=", userId).returningAll().executeTakeFirstOrThrow());
    },
    async remove(trx, userId) {
      const keys = await trx.deleteFrom("api_keys").where("user_id", "=", userId).returning("id").execute();
      await trx.deleteFrom("stream_tickets").where("user_id", "=", userId).execute();
      await trx.deleteFrom("users").where("id", "=", userId).execute();
      return keys.map(({ id }) => id);
    },
  };
}
