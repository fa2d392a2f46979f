import { type Batch, parseProbeEvent, type ProbeEvent } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import { correctEvent } from "../probe-clock.ts";
import type { Site } from "../working-set.ts";

/** A probe with its place. */
export interface ProbeSite extends Site {
  readonly probeId: string;
}

/** A batch whose events have been read, each for itself. */
export interface ReadBatch {
  readonly queueId: string;
  readonly after: number;
  /** Events that occurred before this are late. */
  readonly lateBefore: string;
  readonly events: readonly ReadEvent[];
  /** Whether events that cannot be read are kept as they came, not only counted. */
  readonly keepsRejected: boolean;
}

/** An event as it came. */
export type RawEvent = Batch["events"][number];

/** An event of a batch, parsed or rejected. `seq` is the probe's sequence number in its queue. */
export type ReadEvent =
  | {
    readonly seq: number;
    /** With its instants by our clock. */
    readonly event: ProbeEvent;
    /** By the probe's clock. */
    readonly occurredAt: string;
  }
  /** An event that cannot be read or applied: kept as it came, with the reason. */
  | { readonly seq: number; readonly rejected: string; readonly raw: RawEvent };

/** A probe that comes back within this has been live all the time, to people; what is older pages nobody. */
const LATE_AFTER_MS = 10 * 60_000;

/**
 * Reads each event of a batch for itself.
 * @param reading.offsetMs How far our clock is ahead of the probe's.
 * @param reading.keepsRejected Whether what cannot be read is kept as it came.
 */
export function readEvents(
  batch: Batch, reading: { readonly offsetMs: number; readonly receivedAt: string; readonly keepsRejected: boolean },
): ReadBatch {
  const events = batch.events.map((raw): ReadEvent => {
    const parsed = parseProbeEvent(raw);
    if (!parsed.ok) return { seq: raw.seq, rejected: parsed.message, raw };
    return { seq: raw.seq, event: correctEvent(parsed.event, reading), occurredAt: parsed.event.occurred_at };
  });
  // Both are by our clock: one that is off makes nothing late, and one that lies cannot make a thousand old things new.
  const lateBefore = toInstant(Date.parse(reading.receivedAt) - LATE_AFTER_MS);
  return { queueId: batch.queue_id, after: batch.after, lateBefore, events, keepsRejected: reading.keepsRejected };
}

/** A batch, whose it is and when it came. */
export interface Delivered {
  readonly probe: ProbeSite;
  readonly batch: ReadBatch;
  readonly receivedAt: string;
}
