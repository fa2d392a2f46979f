import type { Role } from "@lanthorn/contract";
import type { Insertable, Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";

export interface User {
  readonly id: string;
  readonly tenantId: string;
  readonly username: string;
  readonly role: Role;
  readonly passwordHash: string;
}

export interface PeopleStore {
  userByName(username: string): Promise<User | null>;
  /** The user of a token, unless the token was revoked, or all of the user's before some moment after it was issued. */
  userOfToken(token: { readonly userId: string; readonly tenantId: string; readonly tokenId: string; readonly issuedAt: string }): Promise<User | null>;
  anyUser(): Promise<boolean>;
  /** Writes the first tenant with its site and user, all or none. */
  createFirst(rows: { readonly tenant: Insertable<Schema["tenants"]>; readonly site: Insertable<Schema["sites"]>; readonly user: Insertable<Schema["users"]> }): Promise<void>;
}

const COLUMNS = ["id", "tenant_id", "username", "role", "password_hash"] as const;

export function createPeopleStore(deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): PeopleStore {
  const { db, reads } = deps;
  return {
    async userByName(username) {
      const row = await reads.selectFrom("users").select(COLUMNS).where("username", "=", username).executeTakeFirst();
      return row ? toUser(row) : null;
    },
    async userOfToken({ userId, tenantId, tokenId, issuedAt }) {
      const row = await reads.selectFrom("users").select(COLUMNS)
        .where("id", "=", userId).where("tenant_id", "=", tenantId).where("tokens_valid_from", "<=", issuedAt)
        .where((eb) => eb.not(eb.exists(eb.selectFrom("revoked_tokens").select("jti").where("jti", "=", tokenId))))
        .executeTakeFirst();
      return row ? toUser(row) : null;
    },
    async anyUser() {
      return (await reads.selectFrom("users").select("id").limit(1).executeTakeFirst()) !== undefined;
    },
    async createFirst({ tenant, site, user }) {
      await db.transaction().execute(async (trx) => {
        await trx.insertInto("tenants").values(tenant).execute();
        await trx.insertInto("sites").values(site).execute();
        await trx.insertInto("users").values(user).execute();
      });
    },
  };
}

function toUser(row: Pick<Schema["users"], (typeof COLUMNS)[number]>): User {
  return { id: row.id, tenantId: row.tenant_id, username: row.username, role: row.role as Role, passwordHash: row.password_hash };
}
