import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { AppendedEvent } from "../../events/log.ts";
import type { Reaction } from "../../events/reaction.ts";

/** A probe asks 64; who was asked before stays for a while. */
const MOST_OF_A_PROBE = 128;

/** Keeps each switch's last report. One that does not answer keeps what it said last, as gone. */
export const switchReaction: Reaction<"switch_report"> = {
  types: ["switch_report"],
  async react(trx, { tenantId }, events) {
    const reports = events.filter(({ queue_id }) => queue_id !== null);
    for (const report of reports) await keepReport(trx, tenantId, report);
    await forgetOldest(trx, reports.flatMap(({ probe_id }) => probe_id ?? []));
  },
};

async function keepReport(
  trx: Transaction<Schema>, tenantId: string,
  { data: { ip, answers }, json, probe_id, site_id, seenAt: at }: AppendedEvent<"switch_report">,
): Promise<void> {
  if (probe_id === null || site_id === null) return;
  if (!answers) {
    await trx.updateTable("switch_reports").set({ current: 0 }).where("tenant_id", "=", tenantId).where("probe_id", "=", probe_id)
      .where("ip", "=", ip).execute();
    return;
  }
  await trx.insertInto("switch_reports")
    .values({ probe_id, ip, tenant_id: tenantId, site_id, data: json, first_seen: at, last_seen: at, current: 1 })
    .onConflict((oc) => oc.columns(["probe_id", "ip"]).doUpdateSet({ data: json, last_seen: at, current: 1 })).execute();
}

async function forgetOldest(trx: Transaction<Schema>, probeIds: readonly string[]): Promise<void> {
  for (const probeId of new Set(probeIds)) {
    const old = await trx.selectFrom("switch_reports").select("ip").where("probe_id", "=", probeId).orderBy("current", "desc").orderBy(
      "last_seen", "desc",
    )
      .orderBy("ip").offset(MOST_OF_A_PROBE).limit(MOST_OF_A_PROBE).execute();
    for (const { ip } of old) await trx.deleteFrom("switch_reports").where("probe_id", "=", probeId).where("ip", "=", ip).execute();
  }
}
