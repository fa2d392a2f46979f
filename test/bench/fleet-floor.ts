import { createId, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../apps/collector/src/db/schema.ts";
import type { Delivered } from "../../apps/collector/src/ingest/messages/read-batch.ts";
import { simulatedEvent } from "../system/simulated-probe.ts";
import { delivered, measureFloor } from "./ingest-floor.ts";

/** As many rounds of events as the fleet's, of fewer probes: the same mix of rows in less time. */
const MAX_PROBES = 200;
const PROBES_A_SITE = 10;
const WITHIN_MS = 20_000;

/** What bare writing of a fleet's rows does. */
export interface FleetFloor {
  readonly eventsPerSecond: number;
  readonly processorMicrosecondsPerEvent: number;
}

/**
 * Writes the rows of a fleet's events with better-sqlite3 alone, in transactions of as many batches as the collector's had.
 * @param options.seconds What the fleet's probes said, one event each second.
 * @param options.batchesPerTransaction The collector's own mean.
 */
export async function measureFleetFloor(options: {
  readonly directory: string; readonly probes: number; readonly seconds: number; readonly batchesPerTransaction: number;
}): Promise<FleetFloor> {
  const count = Math.min(options.probes, MAX_PROBES);
  const tenantId = createId();
  const sites = Array.from({ length: Math.ceil(count / PROBES_A_SITE) }, () => createId());
  const probes = Array.from({ length: count }, (_, index) => (
    { probeId: createId(), queueId: createId(), tenantId, siteId: sites[Math.floor(index / PROBES_A_SITE)] as string }
  ));
  const size = Math.max(1, Math.min(count, Math.round(options.batchesPerTransaction)));
  const group = (from: number): readonly Delivered[] => Array.from({ length: size }, (_, offset) => {
    const [index, round] = [(from + offset) % count, Math.floor((from + offset) / count)];
    const { queueId, ...probe } = probes[index] as (typeof probes)[number];
    const event = { seq: round + 1, ...simulatedEvent(index, round) };
    return delivered(probe, { v: 1, queue_id: queueId, after: round, sent_at: toInstant(Date.now()), events: [event] });
  });
  function* groups() {
    for (let at = 0; at < count * options.seconds; at += size) yield group(at);
  }
  const prepare = async (db: Kysely<Schema>) => {
    const at = toInstant(Date.now());
    await db.insertInto("tenants").values({ id: tenantId, name: "fleet", created_at: at }).execute();
    for (const id of sites) await db.insertInto("sites").values({
      id, tenant_id: tenantId, name: id, probe_configuration: "{}", created_at: at,
    }).execute();
  };
  const { manyRows, rowByRow, events } = await measureFloor({ directory: options.directory, groups: groups(), prepare, withinMs: WITHIN_MS });
  const fastest = manyRows.seconds < rowByRow.seconds ? manyRows : rowByRow;
  return { eventsPerSecond: events / fastest.seconds, processorMicrosecondsPerEvent: (fastest.processorSeconds / events) * 1e6 };
}
