import type { Insertable, Kysely, Selectable } from "kysely";
import { isDuplicate } from "../../../db/constraints.ts";
import type { Schema } from "../../../db/schema.ts";

type Db = Kysely<Schema>;

/** The ids of the tenants that have this name or id. */
export async function tenantsCalled(trx: Db, nameOrId: string): Promise<readonly string[]> {
  const rows = await trx.selectFrom("tenants").select("id").where((eb) => eb.or([eb("name", "=", nameOrId), eb("id", "=", nameOrId)]))
    .execute();
  return rows.map(({ id }) => id);
}

/** Whether a tenant has this login domain. */
export async function isDomainTaken(trx: Db, domain: string): Promise<boolean> {
  return (await trx.selectFrom("tenants").select("id").where("login_domain", "=", domain).executeTakeFirst()) !== undefined;
}

/** Adds a tenant with its first site. */
export async function addTenant(
  trx: Db, { tenant, site }: { readonly tenant: Insertable<Schema["tenants"]>; readonly site: Insertable<Schema["sites"]> },
): Promise<void> {
  await trx.insertInto("tenants").values(tenant).execute();
  await trx.insertInto("sites").values(site).execute();
}

/** Adds a user. @returns False where the name is taken; the transaction can only be undone then. */
export async function addUser(trx: Db, user: Insertable<Schema["users"]>): Promise<boolean> {
  try {
    await trx.insertInto("users").values(user).execute();
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** The user of this name, whatever its case; undefined for none. */
export function userCalled(trx: Db, username: string): Promise<Pick<Selectable<Schema["users"]>, "id" | "tenant_id" | "tokens_valid_from"> | undefined> {
  return trx.selectFrom("users").select(["id", "tenant_id", "tokens_valid_from"]).where("username_key", "=", username.toLowerCase())
    .executeTakeFirst();
}

/** Sets a user's password, and from when its tokens count. */
export async function replacePassword(
  trx: Db, userId: string, columns: Pick<Selectable<Schema["users"]>, "password_hash" | "tokens_valid_from">,
): Promise<void> {
  await trx.updateTable("users").set(columns).where("id", "=", userId).execute();
}

/** All tenants by name, and all users by name. */
export async function everybody(db: Db): Promise<{
  readonly tenants: readonly Pick<Selectable<Schema["tenants"]>, "id" | "name">[];
  readonly users: readonly Pick<Selectable<Schema["users"]>, "tenant_id" | "username" | "role" | "last_login_at">[];
}> {
  return {
    tenants: await db.selectFrom("tenants").select(["id", "name"]).orderBy("name").orderBy("id").execute(),
    users: await db.selectFrom("users").select(["tenant_id", "username", "role", "last_login_at"]).orderBy("username").execute(),
  };
}
