import type { Kysely } from "kysely";
import { hostnameKey } from "../keys/hostname-key.ts";
import type { Schema } from "../schema.ts";
import { updateMany } from "../query/write-many.ts";

/** Devices written at once: some hundred kilobytes. */
const AT_ONCE = 1000;

/** What devices are sorted by name with: see `hostnameKey`. Its index takes the place of that of the names as they are. */
export async function up(db: Kysely<Schema>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("devices").addColumn("hostname_key", "text", (c) => c.notNull().defaultTo("")).execute();
  for (let last = "";;) {
    const named = await db.selectFrom("devices").select(["id", "hostname"]).where("id", ">", last).where("hostname", "<>", "").orderBy("id")
      .limit(AT_ONCE).execute();
    await updateMany(db, "devices", named.map(({ id, hostname }) => ({ id, hostname_key: hostnameKey(hostname) })));
    const end = named.at(-1);
    if (end === undefined || named.length < AT_ONCE) break;
    last = end.id;
  }
  await schema.dropIndex("devices_hostname").execute();
  await schema.createIndex("devices_hostname_key").on("devices").columns(["tenant_id", "hostname_key", "id", "site_id"]).execute();
}
