import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import { selectIn } from "./select-in.ts";

/** Which of these ids are a tenant's records, in their order. */
export async function idsAmong(db: Kysely<Schema>, table: "alerts" | "devices", { tenantId, ids }: {
  readonly tenantId: string; readonly ids: readonly string[];
}): Promise<readonly string[]> {
  const found = await selectIn(ids, (list) => db.selectFrom(table).select("id").where("tenant_id", "=", tenantId).where("id", "in", list).execute());
  return found.map(({ id }) => id).toSorted();
}
