import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";

/**
 * A user name is one whatever its case, and a tenant may have an ending that its users' names share, so that no tenant learns
 * of another's users. Of two names that differ in case alone the newer one gets a number.
 */
export async function up(db: Kysely<Schema>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("tenants").addColumn("login_domain", "text").execute();
  await schema.createIndex("tenants_login_domain").on("tenants").column("login_domain").unique().execute();
  await schema.alterTable("users").addColumn("username_key", "text", (c) => c.notNull().defaultTo("")).execute();
  const users = await db.selectFrom("users").select(["id", "username"]).orderBy("id").execute();
  const given = new Set(users.map(({ username }) => username.toLowerCase()));
  const kept = new Set<string>();
  for (const { id, username } of users) {
    const name = kept.has(username.toLowerCase()) ? freeName(username, given) : username;
    const key = name.toLowerCase();
    kept.add(key);
    given.add(key);
    await db.updateTable("users").set({ username: name, username_key: key }).where("id", "=", id).execute();
  }
  await schema.createIndex("users_name_key").on("users").column("username_key").unique().execute();
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let number = 2;
  while (taken.has(`${name}-${number}`.toLowerCase())) number += 1;
  return `${name}-${number}`;
}
