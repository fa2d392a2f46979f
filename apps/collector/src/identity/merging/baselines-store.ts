import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";

type Trx = Transaction<Schema>;
type FactRow = Schema["baseline_facts"];

/** So long a device learns what is normal of it after it was split, as a new one does. */
const LEARNING_MS = 24 * 3_600_000;
const COLUMNS = [
  "baseline_id", "tenant_id", "kind", "key", "value", "source", "author", "reason", "first_seen", "looked_at", "scope",
] as const satisfies readonly (keyof FactRow)[];

/** What is normal of a device is normal of the one that it is merged into, unless that one has its own word on it. */
export async function takeBaseline(trx: Trx, { from, to }: { readonly from: string; readonly to: string }): Promise<void> {
  const kept = await trx.selectFrom("baselines").select("id").where("device_id", "=", to).executeTakeFirst();
  if (!kept) return;
  await trx.insertInto("baseline_facts").columns([...COLUMNS]).expression((eb) => eb.selectFrom("baseline_facts")
    .innerJoin("baselines", "baselines.id", "baseline_facts.baseline_id")
    .select((of) => [
      of.val(kept.id).as("baseline_id"), "baseline_facts.tenant_id", "kind", "key", "value", "source", "author", "reason", "first_seen", "looked_at", "scope",
    ])
    // What the device's presence was is not what the two are together.
    .where("baselines.device_id", "=", from).where("kind", "<>", "presence")
    .where((of) => of.not(of.exists(of.selectFrom("baseline_facts as own").select("own.key").where("own.baseline_id", "=", kept.id)
      .whereRef("own.kind", "=", "baseline_facts.kind").whereRef("own.key", "=", "baseline_facts.key"))))).execute();
}

/**
 * Two devices were made of one: what is normal of the kept one is learned anew, unless it is frozen, and the other one is no new device of
 * the site.
 * @param now Milliseconds since the epoch.
 */
export async function splitBaseline(
  trx: Trx, { kept, split, siteId }: { readonly kept: string; readonly split: string; readonly siteId: string }, now: number,
): Promise<void> {
  const at = new Date(now).toISOString();
  await trx.updateTable("baselines").set({ state: "learning", learning_until: new Date(now + LEARNING_MS).toISOString(), compare_at: at })
    .where("device_id", "=", kept).where("state", "=", "active").execute();
  const site = await trx.selectFrom("baselines").select(["id", "tenant_id"]).where("site_id", "=", siteId).where("scope", "=", "").executeTakeFirst();
  if (!site) return;
  await trx.insertInto("baseline_facts").values({
    baseline_id: site.id, tenant_id: site.tenant_id, kind: "device", key: split, value: "", source: "learned", author: null, reason: null,
    first_seen: at, looked_at: null, scope: "",
  }).onConflict((conflict) => conflict.columns(["baseline_id", "kind", "key"]).doNothing()).execute();
}
