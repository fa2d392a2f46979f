import { PRIORITIES } from "@lanthorn/contract/uplink";
import type { Loss, Rows } from "./rows.ts";

/** A little more than needed goes at once, so that a queue at its limit does not drop for every single event. */
const SLACK_MAX_BYTES = 1024 * 1024;

/**
 * Brings the queue back under its budget: the oldest events of the lowest priority go, and a gap record says so. Inside
 * the caller's transaction, so that the events and the record of their loss change together.
 * @param readThrough Events up to this sequence are on their way to the collector and stay.
 */
export function shedOverBudget(
  rows: Rows, options: { readonly budgetBytes: number; readonly readThrough: number; readonly nowMs: number },
): void {
  const { bytes } = rows.meta();
  if (bytes <= options.budgetBytes) return;
  let excess = bytes - options.budgetBytes + Math.min(SLACK_MAX_BYTES, options.budgetBytes / 20);
  for (let priority = 0; priority < PRIORITIES.length && excess > 0; priority += 1) {
    const loss = oldestOf(rows, priority, options.readThrough, excess);
    if (!loss) continue;
    rows.remove({ from: loss.fromSeq, to: loss.toSeq, priority });
    rows.recordLoss(loss, options.readThrough, options.nowMs);
    excess -= loss.bytes;
  }
}

/** The statement behind the iteration must be finished before anything is deleted, so this only measures. */
function oldestOf(rows: Rows, priority: number, readThrough: number, wantedBytes: number): (Loss & { readonly bytes: number }) | null {
  let found: { fromSeq: number; toSeq: number; dropped: number; since: string; bytes: number } | null = null;
  for (const row of rows.candidates(priority, readThrough)) {
    found ??= { fromSeq: row.seq, toSeq: row.seq, dropped: 0, since: row.occurred_at, bytes: 0 };
    found.toSeq = row.seq;
    found.dropped += 1;
    found.bytes += row.bytes;
    if (found.bytes >= wantedBytes) break;
  }
  return found && { reason: "disk-budget", ...found };
}
