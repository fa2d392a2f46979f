import type { Kysely } from "kysely";

/** Those that anybody can make without end. */
const COUNTED = ["auth.login", "auth.login_failed", "auth.logout", "auth.password_failed"];

/** Audit records that stand for many: logins, failed ones and logouts, counted by the hour. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("audit").addColumn("window_key", "text").execute();
  await schema.alterTable("audit").addColumn("times", "integer", (c) => c.notNull().defaultTo(1)).execute();
  await schema.alterTable("audit").addColumn("last_at", "text").execute();
  const rows = db as Kysely<{ audit: { id: string; action: string; window_key: string | null } }>;
  await rows.updateTable("audit").set((eb) => ({ window_key: eb.ref("id") })).where("action", "in", COUNTED).execute();
  await schema.createIndex("audit_window").unique().on("audit").column("window_key").execute();
  // What retention counts, without a look at the rows.
  await schema.createIndex("audit_kept").on("audit").columns(["tenant_id", "window_key", "id"]).execute();
}
