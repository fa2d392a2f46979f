import type { Acknowledgement } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import type { Outbox } from "../queue/outbox.ts";
import { type BatchInFlight, type BatchSender, createBatchSender } from "./batch-sender.ts";

/** Brings the queue to the collector, one batch at a time. */
export interface Delivery extends Pick<BatchSender, "wake" | "connected" | "disconnected"> {
  /** @returns How long ago the batch that it answers was sent, in milliseconds; null where it answers none of this connection. */
  onAcknowledgement(ack: Acknowledgement): number | null;
  /** Nothing is queued and nothing in flight. */
  drained(): boolean;
  /** When the collector last confirmed something, milliseconds since the epoch. */
  lastAcknowledgedAt(): number | null;
  close(): void;
}

/**
 * Only the collector's watermark is delivery: a batch stays in the queue, and is sent again after a timeout or a lost
 * connection, until the watermark has passed it. The collector drops what it has by sequence, so repeating does no harm.
 *
 * After an outage the backlog goes out in full batches back to back, the next one on each acknowledgement. Order is by
 * sequence, so live events wait behind it; they do not starve because the queue is read at its other end far faster than
 * a site writes: some ten thousand events a second against some tens.
 */
export function createDelivery(
  deps: { readonly outbox: Outbox; readonly clock: Clock; readonly random: () => number; readonly log: Log },
): Delivery {
  const { outbox, clock, log } = deps;
  const sender = createBatchSender(deps);
  let lastAcknowledgedAt: number | null = null;

  function onRefusal(ack: Acknowledgement, code: NonNullable<Acknowledgement["refused"]>["code"], answered: BatchInFlight): void {
    log.warn({ code, message: ack.refused?.message, seq: answered.lastSeq }, "the collector did not accept a batch");
    switch (code) {
      case "gap":
        if (ack.queue_id !== null && outbox.rewind(ack.queue_id, ack.watermark) === "rewound") sender.sendNext();
        else sender.sendLater();
        return;
      case "too-large":
      case "not-a-batch":
        sender.tooLarge();
        return;
      case "not-ready":
        sender.sendLater();
    }
  }

  return {
    wake: () => sender.wake(),
    connected: (publish) => sender.connected(publish),
    disconnected: () => sender.disconnected(),
    onAcknowledgement(ack) {
      const { inFlight } = sender;
      const isAnswer = inFlight !== null && answers(ack, inFlight);
      const tookMs = isAnswer && ack.batch_sent_at !== null ? clock.monotonic() - inFlight.sentMonotonic : null;
      if (ack.refused) {
        // A refusal of a batch that was sent again in the meantime would take us back a second time.
        if (isAnswer) onRefusal(ack, ack.refused.code, inFlight);
        return tookMs;
      }
      if (ack.queue_id === null) return tookMs;
      const outcome = outbox.acknowledge(ack.queue_id, ack.watermark);
      if (outcome === "other-queue") return null;
      lastAcknowledgedAt = clock.now();
      if (!inFlight) return tookMs;
      const hasProgressed = outcome === "taken" && ack.watermark > inFlight.after;
      if (hasProgressed) sender.progressed();
      if (outcome === "began-anew") sender.sendLater();
      else if (ack.watermark >= inFlight.lastSeq || (isAnswer && hasProgressed)) sender.sendNext();
      else if (isAnswer) sender.sendLater();
      return tookMs;
    },
    drained: () => !sender.isBusy() && outbox.state().events + outbox.state().inMemory === 0,
    lastAcknowledgedAt: () => lastAcknowledgedAt,
    close: () => sender.disconnected(),
  };
}

/** Whether an acknowledgement is about this batch. A refusal of what the collector could not read does not name one. */
function answers({ batch_sent_at: sentAt, refused }: Acknowledgement, inFlight: BatchInFlight): boolean {
  return sentAt === null ? refused !== null : sentAt === inFlight.sentAt;
}
