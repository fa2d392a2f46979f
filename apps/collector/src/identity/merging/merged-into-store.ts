import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** A device that was merged into one that was merged …; no people do this more often. */
const MAX_CHAIN_LENGTH = 64;

/** The device that a device which is gone is a part of now; null where it never was, or was deleted. */
export async function mergedInto(db: Kysely<Schema>, tenantId: string, deviceId: string): Promise<string | null> {
  let id = deviceId;
  for (let step = 0; step < MAX_CHAIN_LENGTH; step += 1) {
    const merge = await db.selectFrom("device_merges").select("kept_id").where("tenant_id", "=", tenantId).where("merged_id", "=", id)
      .where("undone_at", "is", null).orderBy("at", "desc").executeTakeFirst();
    if (!merge) return null;
    id = merge.kept_id;
    const device = await db.selectFrom("devices").select("id").where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
    if (device) return id;
  }
  return null;
}
