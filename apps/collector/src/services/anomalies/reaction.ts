import type { AnomaliesPart } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Reaction } from "../../events/reaction.ts";
import { type AnomaliesStore, addAnomaly, type FeedbackRow } from "./store.ts";

/** Of a site, whatever probes report: the oldest gives way. */
const MAX_ANOMALIES = 10_000;

/** Keeps anomalies. One beyond the day's budget, or that somebody said is normal, raises no alert and calls nobody. */
export function createAnomaliesReaction({ store, clock }: { readonly store: Pick<AnomaliesStore, "feedback">; readonly clock: Pick<Clock, "now"> }): Reaction<"anomaly_detected"> {
  return {
    types: ["anomaly_detected"],
    async react(trx, { tenantId }, events) {
      const said = await store.feedback(trx, { tenantId }, toInstant(clock.now()));
      const settled = new Set<string>();
      for (const { id, data, site_id: siteId, probe_id: probeId, device_id: deviceId, occurred_at: foundAt } of events) {
        // Older senders say of none which kind it is, and are not kept here.
        if (siteId === null || data.kind === undefined) continue;
        const { kind, device = data.mac || data.ip, group = "" } = data;
        const feedback = said.find((one) => one.site_id === siteId && covers(one, { kind, device, group })) ?? null;
        const isAlert = data.is_alert !== false && feedback === null;
        if (!isAlert) settled.add(id);
        await addAnomaly(trx, {
          id, tenant_id: tenantId, site_id: siteId, probe_id: probeId, incident_id: data.incident_id ?? id, device_id: deviceId, kind, device, device_group: group, ip: data.ip, mac: data.mac,
          severity: data.severity, is_alert: isAlert ? 1 : 0, feedback_id: feedback?.id ?? null, found_at: foundAt, data: JSON.stringify(data),
        }, MAX_ANOMALIES);
      }
      return { settled, quiet: new Set() };
    },
  };
}

function covers({ kind, device, device_group: group }: FeedbackRow, one: { readonly kind: string; readonly device: string; readonly group: string }): boolean {
  return kind === one.kind && (device === null ? group === one.group && group !== "" : device === one.device);
}

/** Feedback as probes go by it. @returns Undefined where there is none. */
export function toPart(rows: readonly FeedbackRow[]): AnomaliesPart | undefined {
  if (rows.length === 0) return undefined;
  return {
    accepted: rows.map(({ kind, device, device_group: group, expires_at: until }) =>
      ({ kind, ...(device !== null && { device }), ...(group !== null && { group }), ...(until !== null && { until }) })),
  };
}
