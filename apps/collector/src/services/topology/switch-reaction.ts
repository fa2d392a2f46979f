import type { AppendedEvent } from "../../events/log.ts";
import type { Reaction } from "../../events/reaction.ts";
import { forgetOldestSwitches, markSwitchGone, saveSwitch } from "./reaction-store.ts";

type Trx = Parameters<Reaction<"switch_report">["react"]>[0];

/** A probe asks 64; those that it asked before stay for a while. */
const MAX_OF_A_PROBE = 128;

/** Keeps each switch's last report. One that does not answer keeps what it said last, as gone. */
export const switchReaction: Reaction<"switch_report"> = {
  types: ["switch_report"],
  async react(trx, { tenantId }, events) {
    const reports = events.filter(({ queue_id }) => queue_id !== null);
    for (const report of reports) await keepReport(trx, tenantId, report);
    const probeIds = new Set(reports.flatMap(({ probe_id }) => probe_id ?? []));
    for (const probeId of probeIds) await forgetOldestSwitches(trx, probeId, MAX_OF_A_PROBE);
  },
};

async function keepReport(
  trx: Trx, tenantId: string, { data: { ip, answers }, json, probe_id, site_id, seenAt }: AppendedEvent<"switch_report">,
): Promise<void> {
  if (probe_id === null || site_id === null) return;
  if (answers) await saveSwitch(trx, { probe_id, ip, tenant_id: tenantId, site_id, data: json }, seenAt);
  else await markSwitchGone(trx, { tenantId, probeId: probe_id, ip });
}
