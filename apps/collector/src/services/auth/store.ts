import type { Role } from "@lanthorn/contract";
import type { Insertable, Kysely, Selectable, Transaction } from "kysely";
import { isDuplicate } from "../../db/constraints.ts";
import type { Schema } from "../../db/schema.ts";
import type { TokenClaims } from "./tokens.ts";

type Trx = Transaction<Schema>;

/** A user as stored. `username_key` is the name in lower case; tokens issued before `tokens_valid_from` do not count. */
export interface UserRow extends Omit<Selectable<Schema["users"]>, "role"> {
  readonly role: Role;
}

/** An API key with its maker, as far as a request needs them. */
export interface KeyBearer {
  readonly user: UserRow;
  readonly key: {
    readonly id: string; readonly name: string; readonly scopes: readonly string[]; readonly createdAt: string;
    readonly expiresAt: string | null;
  };
}

/** Users, tokens, keys and tickets as logins and requests need them. User names are unique across all tenants. */
export interface AuthStore {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  userByName(username: string): Promise<UserRow | null>;
  /** The user of a token, unless the token was revoked, or all of the user's before some moment after it was issued. */
  userOfToken(token: Pick<TokenClaims, "userId" | "tenantId" | "tokenId" | "issuedAt">): Promise<UserRow | null>;
  /** A user with the name of the tenant. */
  userWithTenant(tenantId: string, userId: string): Promise<{ readonly user: UserRow; readonly tenantName: string } | null>;
  /** By the hash of a key that was sent, or the id of one that was. Whether it has ended is for the caller to see. */
  bearerOfKey(key: { readonly secretSha256: string } | { readonly id: string }): Promise<KeyBearer | null>;
  /** From here on the token counts nowhere. Revoking it again changes nothing. */
  revokeToken(trx: Trx, token: Insertable<Schema["revoked_tokens"]>): Promise<void>;
  /** @returns False when the user's password is another by now: somebody has changed it since it was compared. */
  setPassword(
    trx: Trx, user: Pick<UserRow, "id" | "password_hash">, password: { readonly hash: string; readonly tokensValidFrom: string },
  ): Promise<boolean>;
  setLastLogin(trx: Trx, userId: string, at: string): Promise<void>;
  /** Where the tenant's administrators get e-mail: none where they have no address. */
  ownerAddresses(tenantId: string): Promise<readonly string[]>;
  addTicket(ticket: Insertable<Schema["stream_tickets"]>): Promise<void>;
  /** A ticket is good once. @returns Null for one that is not there. */
  takeTicket(secretSha256: string): Promise<Selectable<Schema["stream_tickets"]> | null>;
  anyUser(): Promise<boolean>;
  /** Writes the first tenant with its site and user, all or none. */
  createFirst(rows: {
    readonly tenant: Insertable<Schema["tenants"]>; readonly site: Insertable<Schema["sites"]>; readonly user: Insertable<Schema["users"]>;
  }): Promise<boolean>;
}

/** `takeTicket` deletes the ticket as it reads it, so of two requests with one ticket only one gets it. */
export function createAuthStore(deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): AuthStore {
  const { db, reads } = deps;
  return {
    transaction: (work) => db.transaction().execute(work),
    async userByName(username) {
      return asUser(await reads.selectFrom("users").selectAll().where("username_key", "=", username.toLowerCase()).executeTakeFirst());
    },
    async userOfToken({ userId, tenantId, tokenId, issuedAt }) {
      return asUser(await reads.selectFrom("users").selectAll()
        .where("id", "=", userId).where("tenant_id", "=", tenantId).where("tokens_valid_from", "<=", new Date(issuedAt).toISOString())
        .where((eb) => eb.not(eb.exists(eb.selectFrom("revoked_tokens").select("jti").where("jti", "=", tokenId))))
        .executeTakeFirst());
    },
    async userWithTenant(tenantId, userId) {
      const row = await reads.selectFrom("users").innerJoin("tenants", "tenants.id", "users.tenant_id").selectAll("users")
        .select("tenants.name as tenant_name").where("users.id", "=", userId).where("users.tenant_id", "=", tenantId).executeTakeFirst();
      return row ? { user: checked(row), tenantName: row.tenant_name } : null;
    },
    async bearerOfKey(by) {
      const keys = reads.selectFrom("api_keys").selectAll();
      const row = await ("id" in by ? keys.where("id", "=", by.id) : keys.where("secret_sha256", "=", by.secretSha256)).executeTakeFirst();
      if (!row) return null;
      const { id, name, created_at: createdAt, expires_at: expiresAt } = row;
      const user = asUser(await reads.selectFrom("users").selectAll()
        .where("id", "=", row.user_id).where("tenant_id", "=", row.tenant_id).executeTakeFirst());
      return user && { user, key: { id, name, scopes: JSON.parse(row.scopes) as string[], createdAt, expiresAt } };
    },
    async revokeToken(trx, token) {
      await trx.insertInto("revoked_tokens").values(token).onConflict((conflict) => conflict.column("jti").doNothing()).execute();
    },
    async setPassword(trx, { id, password_hash: before }, { hash, tokensValidFrom }) {
      const { numUpdatedRows } = await trx.updateTable("users").set({ password_hash: hash, tokens_valid_from: tokensValidFrom })
        .where("id", "=", id).where("password_hash", "=", before).executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    async setLastLogin(trx, userId, at) {
      await trx.updateTable("users").set({ last_login_at: at }).where("id", "=", userId).execute();
    },
    async ownerAddresses(tenantId) {
      const users = await reads.selectFrom("users").select("email").where("tenant_id", "=", tenantId)
        .where("role", "=", "admin" satisfies Role).orderBy("id").execute();
      return users.flatMap(({ email }) => email ?? []);
    },
    async anyUser() {
      return (await reads.selectFrom("users").select("id").limit(1).executeTakeFirst()) !== undefined;
    },
    async addTicket(ticket) {
      await db.insertInto("stream_tickets").values(ticket).execute();
    },
    async takeTicket(secret) {
      return (await db.deleteFrom("stream_tickets").where("secret_sha256", "=", secret).returningAll().executeTakeFirst()) ?? null;
    },
    async createFirst({ tenant, site, user }) {
      try {
        await db.transaction().execute(async (trx) => {
          await trx.insertInto("tenants").values(tenant).execute();
          await trx.insertInto("sites").values(site).execute();
          await trx.insertInto("users").values(user).execute();
        });
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
  };
}

/** A row of `users`, whose role was checked when it was written. */
export function checked(row: Selectable<Schema["users"]>): UserRow {
  return { ...row, role: row.role as Role };
}

/** The same of a row that may not be there. */
export function asUser(row: Selectable<Schema["users"]> | undefined): UserRow | null {
  return row ? checked(row) : null;
}
