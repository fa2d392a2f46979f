import { MAX_BASELINE_FACTS } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";

type Trx = Transaction<Schema>;
type FactRow = Schema["baseline_facts"];

/** So long a device learns what is normal of it after it was split, as a new one does. */
const LEARNING_MS = 24 * 3_600_000;
const COLUMNS = [
  "baseline_id", "tenant_id", "kind", "key", "value", "source", "author", "reason", "first_seen", "looked_at", "scope",
] as const satisfies readonly (keyof FactRow)[];

/** Two devices of a site, of which one is merged into the other. */
interface Move {
  readonly from: string;
  readonly to: string;
  readonly siteId: string;
}

/**
 * What is normal of a device is normal of the one that it is merged into, unless that one has its own word on it; what people accepted and
 * when it is serviced counts for that one. Its differences end with it: they are found again where they are still so.
 * @param now Milliseconds since the epoch.
 */
export async function takeBaseline(trx: Trx, { from, to, siteId }: Move, now: number): Promise<void> {
  for (const table of ["baseline_acceptances", "baseline_windows"] as const) {
    await trx.updateTable(table).set({ device_id: to }).where("device_id", "=", from).where("site_id", "=", siteId).execute();
  }
  await takeMembership(trx, { from, to, siteId });
  const kept = await trx.selectFrom("baselines").select("id").where("device_id", "=", to).executeTakeFirst();
  if (!kept) return;
  await trx.updateTable("baselines").set({ compare_at: toInstant(now) }).where("id", "=", kept.id).execute();
  const { count } = await trx.selectFrom("baseline_facts").select((eb) => eb.fn.countAll<number>().as("count")).where("baseline_id", "=", kept.id)
    .executeTakeFirstOrThrow();
  await trx.insertInto("baseline_facts").columns([...COLUMNS]).expression((eb) => eb.selectFrom("baseline_facts as f")
    .innerJoin("baselines as b", "b.id", "f.baseline_id")
    .select((of) => [
      of.val(kept.id).as("baseline_id"), "f.tenant_id", "f.kind", "f.key", "f.value", "f.source", "f.author", "f.reason", "f.first_seen", "f.looked_at", "f.scope",
    ])
    // What the device's presence was is not what the two are together.
    .where("b.device_id", "=", from).where("f.kind", "<>", "presence")
    .where((of) => of.not(of.exists(of.selectFrom("baseline_facts as own").select("own.key").where("own.baseline_id", "=", kept.id)
      .whereRef("own.kind", "=", "f.kind").whereRef("own.key", "=", "f.key"))))
    .orderBy("f.kind").orderBy("f.key").limit(Math.max(0, MAX_BASELINE_FACTS - count))).execute();
}

/** Where its site knows the device, it knows the one that it is merged into. */
async function takeMembership(trx: Trx, { from, to, siteId }: Move): Promise<void> {
  const known = await trx.selectFrom("baseline_facts as f").innerJoin("baselines as b", "b.id", "f.baseline_id").selectAll("f").where("f.kind", "=", "device")
    .where("f.key", "=", from).where("b.site_id", "=", siteId).where("b.scope", "=", "").executeTakeFirst();
  if (!known) return;
  await trx.insertInto("baseline_facts").values({ ...known, key: to }).onConflict((conflict) => conflict.columns(["baseline_id", "kind", "key"]).doNothing())
    .execute();
}

/**
 * Two devices were made of one: what is normal of the kept one is learned anew, unless it is frozen, and the other one is no new device of
 * the site.
 * @param now Milliseconds since the epoch.
 */
export async function splitBaseline(
  trx: Trx, { kept, split, siteId }: { readonly kept: string; readonly split: string; readonly siteId: string }, now: number,
): Promise<void> {
  const at = toInstant(now);
  await trx.updateTable("baselines").set({ state: "learning", learning_until: toInstant(now + LEARNING_MS), compare_at: at })
    .where("device_id", "=", kept).where("state", "=", "active").execute();
  const site = await trx.selectFrom("baselines").select(["id", "tenant_id"]).where("site_id", "=", siteId).where("scope", "=", "").executeTakeFirst();
  if (!site) return;
  await trx.insertInto("baseline_facts").values({
    baseline_id: site.id, tenant_id: site.tenant_id, kind: "device", key: split, value: "", source: "learned", author: null, reason: null,
    first_seen: at, looked_at: null, scope: "",
  }).onConflict((conflict) => conflict.columns(["baseline_id", "kind", "key"]).doNothing()).execute();
}
