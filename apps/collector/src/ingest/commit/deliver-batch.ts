import { type Log, describeError } from "@lanthorn/runtime";
import { isStorageFault } from "../../db/faults.ts";
import { commitBatch, type Committed } from "./commit-batch.ts";
import type { ProbeSite, ReadBatch, ReadEvent } from "../messages/read-batch.ts";

/**
 * Commits a batch as `commitBatch` does. Where one event makes that fail for its own sake (a bug of ours, a text that the
 * database does not take), each event is committed alone and that one is set aside: a probe sends nothing else before its
 * batch is taken, so one event would hold up all that follow, for ever.
 * @throws What the database says when it cannot write at all: full, locked, broken. Nothing is committed then that is not in order.
 */
export async function deliverBatch(
  deps: Parameters<typeof commitBatch>[0] & { readonly logger: Log },
  probe: ProbeSite,
  batch: ReadBatch,
  receivedAt: string,
): Promise<Committed> {
  try {
    return await commitBatch(deps, probe, batch, receivedAt);
  } catch (error) {
    if (isStorageFault(error)) throw error;
    deps.logger.error(
      { probe_id: probe.probeId, reason: describeError(error) }, "a batch cannot be applied as a whole; its events are taken one by one",
    );
  }
  let total: Committed = { watermark: batch.after, refusal: null, appended: null, rejected: 0, rejectedBytes: 0 };
  for (const event of batch.events) {
    const one = await commitOne(deps, probe, { ...batch, events: [event] }, receivedAt, event);
    const fromSeq = total.appended?.fromSeq ?? one.appended?.fromSeq;
    total = {
      watermark: one.watermark, refusal: one.refusal, rejected: total.rejected + one.rejected,
      rejectedBytes: total.rejectedBytes + one.rejectedBytes,
      appended: fromSeq === undefined ? null : { fromSeq, toSeq: one.appended?.toSeq ?? total.appended?.toSeq ?? fromSeq },
    };
  }
  return total;
}

async function commitOne(
  deps: Parameters<typeof deliverBatch>[0],
  probe: ProbeSite,
  batch: ReadBatch,
  receivedAt: string,
  entry: ReadEvent,
): Promise<Committed> {
  try {
    return await commitBatch(deps, probe, batch, receivedAt);
  } catch (error) {
    if (isStorageFault(error) || !("event" in entry)) throw error;
    const { seq, event, occurredAt } = entry;
    const raw = { seq, type: event.type, occurred_at: occurredAt, data: event.data };
    const rejected: ReadEvent = { seq, rejected: `cannot be applied: ${describeError(error)}`.slice(0, 1024), raw };
    return commitBatch(deps, probe, { ...batch, events: [rejected] }, receivedAt);
  }
}
