import type { Acknowledgement } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import type { Acknowledgements } from "../messages/acknowledgements.ts";
import type { Committed } from "./commit-batch.ts";
import { commitInPieces } from "./commit-in-pieces.ts";
import { decodeBatch } from "../messages/decode-batch.ts";
import type { createGroupCommit } from "./group-commit.ts";
import type { IngestMeasure } from "../messages/measure.ts";
import type { createProbeClocks } from "../probe-clock.ts";
import type { KnownProbe } from "../probes-store.ts";
import { costOf, type createQuota } from "../messages/quota.ts";
import type { createRefusals } from "../messages/refusals.ts";
import { MAX_NEW_QUEUES } from "../store/probe-queues.ts";

/** The answer to a probe that may send no more now. */
const SPENT = "the probe has used its quota for this time: send the batch again later";
/**
 * Takes a batch: reads it within the probe's quota, commits it, and only then acknowledges it.
 * @returns What does so. It rejects where nothing could be committed: then there is no acknowledgement either.
 */
export function createTakeEvents(deps: {
  readonly quota: ReturnType<typeof createQuota>; readonly clocks: Pick<ReturnType<typeof createProbeClocks>, "measure">;
  readonly group: ReturnType<typeof createGroupCommit>; readonly refusals: Pick<ReturnType<typeof createRefusals>, "count">;
  readonly acknowledgements: Pick<Acknowledgements, "acknowledge" | "refuse">; readonly clock: Clock;
  readonly measure: IngestMeasure | undefined; readonly onCommitted: () => void;
}): (probe: KnownProbe, payload: Buffer, receivedAt: string) => Promise<void> {
  const { quota, clocks, group, refusals, acknowledgements, clock } = deps;
  return async (probe, payload, receivedAt) => {
    if (!await quota.mayRead(probe.probeId)) return acknowledgements.refuse(probe, "quota", SPENT, receivedAt);
    const startedAt = clock.monotonic();
    const decoded = await decodeBatch(payload);
    if (!decoded.ok) {
      quota.charge(probe.probeId, payload.length);
      return acknowledgements.refuse(probe, decoded.code, decoded.message, receivedAt);
    }
    const { batch, jsonBytes } = decoded;
    quota.charge(probe.probeId, costOf({ jsonBytes, events: batch.events.length }));
    const offsetMs = clocks.measure(probe, batch.sent_at, receivedAt);
    const keepsRejected = quota.mayKeepRejected(probe.probeId);
    const committed = await commitInPieces(group, probe, decoded, { offsetMs, receivedAt, keepsRejected });
    quota.chargeRejected(probe.probeId, committed.rejectedBytes);
    deps.onCommitted();
    deps.measure?.batch({
      stored: committed.stored, rejected: committed.rejected,
      seconds: (clock.monotonic() - startedAt) / 1000, ageSeconds: Math.max(0, clock.now() - Date.parse(batch.sent_at)) / 1000,
    });
    for (let rejected = committed.rejected; rejected > 0; rejected -= 1) refusals.count(probe.probeId, "unreadable-event");
    if (committed.refusal !== null) refusals.count(probe.probeId, committed.refusal);
    const refused = refusalOf(committed, batch.after);
    // A queue that is not known yet has no watermark to go by.
    const queueId = committed.refusal === "queue-limit" ? null : batch.queue_id;
    return acknowledgements.acknowledge(probe, { queue_id: queueId, watermark: committed.watermark, batch_sent_at: batch.sent_at, refused }, receivedAt);
  };
}

/** What the acknowledgement says where nothing was done; with `not-ready` the probe keeps the batch, and sends it again later. */
function refusalOf({ refusal, watermark }: Pick<Committed, "watermark" | "refusal">, after: number): Acknowledgement["refused"] {
  if (refusal === null) return null;
  return refusal === "gap"
    ? { code: "gap", message: `the events between ${watermark} and ${after} are missing` }
    : { code: "not-ready", message: `more than ${MAX_NEW_QUEUES} new queues within an hour: send the batch again later` };
}
