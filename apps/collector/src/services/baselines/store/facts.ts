import type { Kysely, Selectable, Transaction } from "kysely";
import { among, selectIn } from "../../../db/query/select-in.ts";
import { upsertMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";

type Trx = Transaction<Schema>;

/** A fact of a baseline as stored. */
export type FactRow = Selectable<Schema["baseline_facts"]>;
/** Which fact it is. */
export type FactKey = Pick<FactRow, "baseline_id" | "kind" | "key">;

/** All facts of these baselines. @param kinds Only of these kinds. */
export function factsOf(db: Kysely<Schema>, baselineIds: readonly string[], kinds?: readonly string[]): Promise<readonly FactRow[]> {
  return selectIn(baselineIds, (list) => {
    const query = db.selectFrom("baseline_facts").selectAll().where("baseline_id", "in", list);
    return (kinds ? query.where("kind", "in", kinds) : query).execute();
  });
}

/** Those of these facts that there are. */
export function findFacts(db: Kysely<Schema>, keys: readonly FactKey[]): Promise<readonly FactRow[]> {
  return selectIn(keys, (list) => db.selectFrom("baseline_facts").selectAll()
    .where(among(["baseline_id", "kind", "key"], list.map(({ baseline_id: id, kind, key }) => [id, kind, key]))).execute());
}

/** Sets facts; of one that is there, `first_seen` stays. No key twice. */
export function putFacts(trx: Trx, rows: readonly FactRow[]): Promise<void> {
  return upsertMany(trx, "baseline_facts", {
    key: ["baseline_id", "kind", "key"], update: ["value", "source", "author", "reason", "looked_at", "scope"],
  }, rows);
}

/** Removes facts. */
export async function removeFacts(trx: Trx, keys: readonly FactKey[]): Promise<void> {
  if (keys.length === 0) return;
  await selectIn(keys, async (list) => {
    await trx.deleteFrom("baseline_facts").where(among(["baseline_id", "kind", "key"], list.map(({ baseline_id: id, kind, key }) => [id, kind, key])))
      .execute();
    return [];
  });
}

/** Removes all facts of baselines. */
export async function clearFacts(trx: Trx, baselineIds: readonly string[]): Promise<void> {
  await selectIn(baselineIds, async (list) => {
    await trx.deleteFrom("baseline_facts").where("baseline_id", "in", list).execute();
    return [];
  });
}
