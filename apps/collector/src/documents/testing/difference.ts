import { createId, toInstant } from "@lanthorn/runtime";
import { openDatabase } from "../../db/open.ts";
import { testLocation } from "../../testing/database.ts";

/**
 * A difference from the baseline of the newest site, in the database of a running collector: by itself the comparison would find one only
 * after a day of learning. The site has no probe, so there is nothing to compare it with.
 */
export async function addDifference(dataDir: string): Promise<void> {
  const { db, close } = await openDatabase(await testLocation(dataDir));
  try {
    const { id: site_id, tenant_id } = await db.selectFrom("sites").select(["id", "tenant_id"]).orderBy("id", "desc").executeTakeFirstOrThrow();
    const [baselineId, at, never] = [createId(), toInstant(Date.now()), "2100-01-01T00:00:00.000Z"];
    await db.insertInto("baselines").values({
      id: baselineId, tenant_id, site_id, device_id: null, scope: "", state: "active", learning_until: null, learned_at: at, approved_by: null,
      approved_at: null, settings: "{}", presence: "", scopes: "", compare_at: never, created_at: at, updated_at: at,
    }).execute();
    await db.insertInto("baseline_differences").values({
      id: createId(), tenant_id, site_id, device_id: null, baseline_id: baselineId, kind: "gateway", key: "192.0.2.1", outcome: "appeared", expected: "",
      observed: "00:1b:21:aa:bb:07", expected_at: null, observed_at: at, severity: "high", state: "open", first_seen: at, last_seen: at, ended_at: null,
      acceptance_id: null, open_key: `${baselineId} gateway 192.0.2.1`,
    }).execute();
  } finally {
    await close();
  }
}
