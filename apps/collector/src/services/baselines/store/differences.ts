import type { Kysely, Selectable, Transaction } from "kysely";
import { selectIn } from "../../../db/query/select-in.ts";
import { insertMany, updateMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";

type Trx = Transaction<Schema>;

/** A difference as stored. */
export type DifferenceRow = Selectable<Schema["baseline_differences"]>;

/** What `open_key` is while a difference has not ended. */
export function openKeyOf({ baseline_id: id, kind, key }: Pick<DifferenceRow, "baseline_id" | "kind" | "key">): string {
  return `${id} ${kind} ${key}`;
}

const STANDING = ["pending", "open", "held", "accepted"] as const;

/** Differences of these baselines that have not ended, accepted and held ones too. @param kinds Only of these kinds of facts. */
export function standingDifferences(db: Kysely<Schema>, baselineIds: readonly string[], kinds?: readonly string[]): Promise<readonly DifferenceRow[]> {
  return selectIn(baselineIds, (list) => {
    const query = db.selectFrom("baseline_differences").selectAll().where("baseline_id", "in", list).where("state", "in", STANDING);
    return (kinds ? query.where("kind", "in", kinds) : query).execute();
  });
}

/** Differences that have not ended, of a tenant. */
export const MAX_STANDING = 100_000;
/** Of a site, so that what one probe makes up leaves room for those of other sites. */
export const MAX_STANDING_OF_SITE = 25_000;
/** Of one baseline: nobody reads more of one device. */
export const MAX_STANDING_OF_ONE = 1000;

/** How many differences of a tenant have not ended. */
export async function countStanding(db: Kysely<Schema>, tenantId: string): Promise<number> {
  const row = await db.selectFrom("baseline_differences").select((eb) => eb.fn.countAll<number>().as("count")).where("tenant_id", "=", tenantId)
    .where("state", "in", STANDING).executeTakeFirstOrThrow();
  return row.count;
}

/** How many differences of these sites have not ended; sites without any are left out. */
export async function countStandingOf(db: Kysely<Schema>, siteIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await selectIn([...new Set(siteIds)], (list) => db.selectFrom("baseline_differences").select((eb) => ["site_id", eb.fn.countAll<number>().as("count")])
    .where("site_id", "in", list).where("state", "in", STANDING).groupBy("site_id").execute());
  return new Map(rows.map(({ site_id: id, count }) => [id, count]));
}

/** Adds differences. */
export function addDifferences(trx: Trx, rows: readonly DifferenceRow[]): Promise<void> {
  return insertMany(trx, "baseline_differences", rows);
}

/** Writes differences that have changed. What they differ in is not changed. */
export function setDifferences(trx: Trx, rows: readonly DifferenceRow[]): Promise<void> {
  return updateMany(trx, "baseline_differences", rows.map((row) => ({
    id: row.id, outcome: row.outcome, expected: row.expected, observed: row.observed, expected_at: row.expected_at, observed_at: row.observed_at,
    severity: row.severity, state: row.state, last_seen: row.last_seen, ended_at: row.ended_at, acceptance_id: row.acceptance_id,
    open_key: row.open_key,
  })));
}

/** Differences that have not ended, by their `open_key`. */
export function differencesAt(db: Kysely<Schema>, openKeys: readonly string[]): Promise<readonly DifferenceRow[]> {
  return selectIn(openKeys, (list) => db.selectFrom("baseline_differences").selectAll().where("open_key", "in", list).execute());
}
