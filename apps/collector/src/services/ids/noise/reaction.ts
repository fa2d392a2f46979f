import { compileIdsSuppressions } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { AppendedEvent } from "../../../events/log.ts";
import type { Reaction } from "../../../events/reaction.ts";
import { type SignatureCount, countSignatures } from "./counts-store.ts";
import { type NoiseStore, readDeviceAddresses, toCompared } from "./store.ts";

/**
 * Counts what intrusion rules matched, and keeps back what is suppressed: it stays in the log and on the stream, raises no alert and
 * calls nobody. An event's `count` is of all since it began, so only what came since the last one of its incident is new.
 */
export function createIdsReaction({ store, clock }: { readonly store: NoiseStore; readonly clock: Pick<Clock, "now"> }): Reaction<"ids_alert"> {
  const known = createIncidents();
  return {
    types: ["ids_alert"],
    async react(trx, { tenantId }, events) {
      const now = clock.now();
      const rows = await store.suppressions(trx, tenantId, toInstant(now));
      const devices = await readDeviceAddresses(trx, rows);
      const bySite = new Map([...new Set(events.map(({ site_id: siteId }) => siteId))].map((siteId) => [siteId, compileIdsSuppressions(toCompared(rows, siteId, devices))]));
      const [settled, quiet, hits, counts] = [new Set<string>(), new Set<string>(), new Map<string, number>(), [] as SignatureCount[]];
      for (const event of events) {
        const { data } = event;
        const suppression = bySite.get(event.site_id)?.find({
          signatureId: data.signature_id, generatorId: data.gid ?? 1, message: data.signature, className: data.class ?? data.category, sourceIp: data.source_ip,
          destinationIp: data.destination_ip, internalMac: "",
        }, now) ?? null;
        if (data.state === "ended") {
          // An alert that was open before ends all the same.
          if (suppression !== null) quiet.add(event.id);
          continue;
        }
        if (suppression !== null) settled.add(event.id);
        const times = known.fresh(event);
        if (suppression !== null) hits.set(suppression, (hits.get(suppression) ?? 0) + times);
        counts.push(countOf(event, { times, isSuppressed: suppression !== null, tenantId }));
      }
      await write(trx, { store, hits, counts, at: toInstant(now) });
      return { settled, quiet };
    },
  };
}

async function write(trx: Transaction<Schema>, { store, hits, counts, at }: {
  readonly store: NoiseStore; readonly hits: ReadonlyMap<string, number>; readonly counts: readonly SignatureCount[]; readonly at: string;
}): Promise<void> {
  for (const [id, times] of [...hits].toSorted(([a], [b]) => (a < b ? -1 : 1))) await store.countHit(trx, id, times, at);
  await countSignatures(trx, counts.filter(({ alerts, suppressed }) => alerts + suppressed > 0));
}

function countOf(event: AppendedEvent<"ids_alert">, { times, isSuppressed, tenantId }: { readonly times: number; readonly isSuppressed: boolean; readonly tenantId: string }): SignatureCount {
  const { data } = event;
  return {
    site_id: event.site_id, tenant_id: tenantId, day: event.received_at.slice(0, 10), generator_id: data.gid ?? 1, signature_id: data.signature_id,
    host: data.subject_ip ?? data.source_ip, signature: data.signature, category: data.category, alerts: isSuppressed ? 0 : times, suppressed: isSuppressed ? times : 0,
    would_block: data.would_block === true ? times : 0, last_at: event.received_at,
  };
}

/** Incidents whose count is remembered; one that was forgotten is counted from its beginning once more. */
const MAX_INCIDENTS = 10_000;

function createIncidents() {
  const counted = new Map<string, number>();
  return {
    /** How often an event's cause was seen that is not counted yet. */
    fresh({ data, probe_id: probeId }: AppendedEvent<"ids_alert">): number {
      if (data.count === undefined || data.since === undefined) return 1;
      const key = `${probeId} ${data.incident_id ?? ""} ${data.gid ?? 1}:${data.signature_id} ${data.subject_ip ?? ""} ${data.since}`;
      const before = counted.get(key);
      counted.delete(key);
      counted.set(key, Math.max(before ?? 0, data.count));
      if (counted.size > MAX_INCIDENTS) counted.delete(counted.keys().next().value ?? "");
      // After a restart of the collector, an incident that goes on is counted anew.
      return Math.max(0, data.count - (before ?? 0));
    },
  };
}
