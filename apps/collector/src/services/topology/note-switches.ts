import { EVENTS } from "@lanthorn/contract";
import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { JustAppended } from "../../events/log.ts";

/** A probe asks 64; who was asked before stays for a while. */
const MOST_OF_A_PROBE = 128;

/** Keeps each switch's last report, in the transaction that writes the events. One that is silent keeps what it said, as gone. */
export async function noteSwitches(trx: Transaction<Schema>, tenantId: string, rows: readonly JustAppended[]): Promise<void> {
  const told = rows.filter(({ type, queue_id }) => queue_id !== null && type === "switch_report");
  for (const row of told) {
    const read = EVENTS.switch_report.data.safeParse(JSON.parse(row.data));
    if (!read.success || row.probe_id === null || row.site_id === null) continue;
    const { ip, answers } = read.data;
    const at = row.seenAt;
    const own =
      trx.updateTable("switch_reports").where("tenant_id", "=", tenantId).where("probe_id", "=", row.probe_id).where("ip", "=", ip);
    if (!answers) await own.set({ current: 0 }).execute();
    else {
      await trx.insertInto("switch_reports")
        .values({
          probe_id: row.probe_id, ip, tenant_id: tenantId, site_id: row.site_id, data: row.data, first_seen: at, last_seen: at, current: 1,
        })
        .onConflict((oc) => oc.columns(["probe_id", "ip"]).doUpdateSet({ data: row.data, last_seen: at, current: 1 })).execute();
    }
  }
  for (const probeId of new Set(told.flatMap(({ probe_id }) => probe_id ?? []))) {
    const old = await trx.selectFrom("switch_reports").select("ip").where("probe_id", "=", probeId).orderBy("current", "desc").orderBy(
      "last_seen", "desc",
    )
      .orderBy("ip").offset(MOST_OF_A_PROBE).limit(MOST_OF_A_PROBE).execute();
    for (const { ip } of old) await trx.deleteFrom("switch_reports").where("probe_id", "=", probeId).where("ip", "=", ip).execute();
  }
}
