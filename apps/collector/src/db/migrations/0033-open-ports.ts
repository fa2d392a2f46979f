import { type Kysely, sql } from "kysely";

/** Finds devices by their open ports: of the ports that were asked most are not open, and so not in the index. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex("ports_open").on("ports").columns(["tenant_id", "port", "device_id"])
    .where(sql.ref("state"), "=", sql.lit("open")).execute();
}
