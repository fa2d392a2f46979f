import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";

type Db = Kysely<Schema>;

/** Notes when a key was used, unless a later use is noted. */
export async function noteKeyUse(db: Db, keyId: string, at: string): Promise<void> {
  await db.updateTable("api_keys").set({ last_used_at: at }).where("id", "=", keyId)
    .where((eb) => eb.or([eb("last_used_at", "is", null), eb("last_used_at", "<", at)])).execute();
}

/** Forgets what has ended by `now`: revoked tokens, confirmations and tickets. */
export async function forgetEnded(db: Db, now: string): Promise<void> {
  await db.deleteFrom("revoked_tokens").where("expires_at", "<=", now).execute();
  await db.deleteFrom("confirmed_tokens").where("confirmed_until", "<=", now).execute();
  await db.deleteFrom("stream_tickets").where("expires_at", "<=", now).execute();
}

/** Forgets failed logins since which nothing has failed after `before`, and all but the newest `keep`. */
export async function forgetLoginFailures(db: Db, before: string, keep: number): Promise<void> {
  await db.deleteFrom("login_failures").where("updated_at", "<=", before).execute();
  const beyond = await db.selectFrom("login_failures").select("updated_at").orderBy("updated_at", "desc").offset(keep).limit(1)
    .executeTakeFirst();
  if (beyond) await db.deleteFrom("login_failures").where("updated_at", "<=", beyond.updated_at).execute();
}

/** Forgets audit records of no tenant that are from before `before`, and all but the newest `keep`. */
export async function forgetAnonymous(db: Db, before: string, keep: number): Promise<void> {
  await db.deleteFrom("audit").where("tenant_id", "=", "").where("at", "<=", before).execute();
  const beyond = await db.selectFrom("audit").select("id").where("tenant_id", "=", "").orderBy("id", "desc").offset(keep).limit(1)
    .executeTakeFirst();
  if (beyond) await db.deleteFrom("audit").where("tenant_id", "=", "").where("id", "<=", beyond.id).execute();
}
