import type { Kysely } from "kysely";
import { lockSites } from "../../db/locks/lock-site.ts";
import { groupBy } from "../../db/query/group-by.ts";
import type { Schema } from "../../db/schema.ts";
import type { Appended, EventLog } from "../../events/log.ts";
import type { Merges } from "../../identity/merging/merges.ts";
import { type AppliedBatch, applyBatches, type FreshBatch } from "./apply-batches.ts";
import type { DeviceGrowth } from "../devices/device-growth.ts";
import type { Projections } from "../projections/projection.ts";
import type { Delivered, ProbeSite, RawEvent, ReadBatch } from "../messages/read-batch.ts";
import { addRejected, moveQueues, type ProbeQueues, readQueues } from "../store/probe-queues.ts";

/** How far the queue is committed now, and what was done to get there. */
export interface Committed {
  readonly watermark: number;
  /**
   * Why nothing was done: `gap` when the batch begins behind the watermark, since events in between never came; `queue-limit` when
   * it begins a queue, and its probe has begun too many of late.
   */
  readonly refusal: "gap" | "queue-limit" | null;
  readonly appended: Appended | null;
  readonly rejected: number;
  /** What of them was kept. */
  readonly rejectedBytes: number;
}

interface CommitDependencies {
  readonly db: Kysely<Schema>;
  readonly log: EventLog;
  readonly merges: Merges;
  readonly growth: DeviceGrowth;
  readonly projections: Projections;
}

/**
 * Commits what batches hold beyond their queues' watermarks, all of it or nothing: devices and what hangs on them, the event
 * log, and the watermarks themselves, in one transaction, the sites held from its start: neither another probe of a site nor the
 * same batch in another process comes in between. What the collector has already is left out, so a batch may come again.
 * @param deliveries No two of one probe.
 * @returns What became of each, in their order.
 */
export function commitBatches(deps: CommitDependencies, deliveries: readonly Delivered[]): Promise<readonly Committed[]> {
  return deps.db.transaction().execute(async (trx) => {
    await lockSites(trx, [...new Set(deliveries.map(({ probe }) => probe.siteId))]);
    const queues = await readQueues(trx, deliveries);
    const inOrder = await applyBatches(trx, deps, deliveries.map((delivery) => freshOf(delivery, queues)));
    const unreadable = inOrder.map(rejectedRows);
    await addRejected(trx, unreadable.flat());
    await moveQueues(trx, inOrder.filter(({ isNews }) => isNews).map(({ delivery, watermark }) => ({ ...delivery, watermark })));
    // Last, since it holds the tenant, for whom everybody else waits.
    const appended = new Map<AppliedBatch, Appended>();
    for (const [tenantId, ofTenant] of [...groupBy(inOrder, ({ delivery }) => delivery.probe.tenantId)].toSorted(byKey)) {
      const entries = ofTenant.flatMap((draft) => draft.entries);
      let { fromSeq } = entries.length === 0 ? { fromSeq: 0 } : await deps.log.append(trx, tenantId, entries);
      for (const draft of ofTenant) {
        if (draft.entries.length > 0) appended.set(draft, { fromSeq, toSeq: fromSeq + draft.entries.length - 1 });
        fromSeq += draft.entries.length;
      }
    }
    return inOrder.map((draft, index): Committed => ({
      watermark: draft.watermark, refusal: draft.refusal, appended: appended.get(draft) ?? null, rejected: draft.rejected.length,
      rejectedBytes: (unreadable[index] ?? []).reduce((sum, { payload, reason }) => sum + payload.length + reason.length, 0),
    }));
  });
}

/** `commitBatches` with one. */
export async function commitBatch(deps: CommitDependencies, probe: ProbeSite, batch: ReadBatch, receivedAt: string): Promise<Committed> {
  const [committed] = await commitBatches(deps, [{ probe, batch, receivedAt }]);
  return committed as Committed;
}

/** What of a batch the collector does not have yet. */
function freshOf(delivery: Delivered, queues: ProbeQueues): FreshBatch {
  const { probe, batch } = delivery;
  const watermark = queues.watermark(probe.probeId, batch.queueId);
  const refusal = queues.isRefused(probe.probeId, batch.queueId) ? "queue-limit" : batch.after > (watermark ?? 0) ? "gap" : null;
  const fresh = refusal === null ? batch.events.filter(({ seq }) => seq > (watermark ?? 0)) : [];
  return {
    delivery, refusal, isNews: fresh.length > 0, watermark: fresh.at(-1)?.seq ?? watermark ?? 0,
    read: fresh.flatMap((entry) => ("event" in entry ? [entry] : [])),
    rejected: fresh.flatMap((entry) => ("event" in entry ? [] : [entry])),
  };
}

function rejectedRows({ delivery: { probe, batch, receivedAt }, rejected }: FreshBatch): readonly Schema["rejected_events"][] {
  if (!batch.keepsRejected) return [];
  return rejected.map(({ seq, rejected: reason, raw }) => ({
    probe_id: probe.probeId, queue_id: batch.queueId, probe_seq: seq, tenant_id: probe.tenantId, received_at: receivedAt, reason,
    payload: toText(raw),
  }));
}

/** Tenants are held in the same order by all. */
function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1;
}

/** As it came, except where it is nested so deeply that it cannot be written out again. */
function toText(raw: RawEvent): string {
  try {
    return JSON.stringify(raw);
  } catch {
    return JSON.stringify({ seq: raw.seq, type: raw.type, occurred_at: raw.occurred_at, data: "nested too deeply to be stored" });
  }
}
