import { type Acknowledgement, BATCH_MAX_BYTES, BATCH_MAX_EVENTS, PAYLOAD_MAX_BYTES } from "@lanthorn/contract/uplink";
import { type Clock, createBackoff, type Log, toInstant } from "@lanthorn/runtime";
import type { Outbox } from "../queue/outbox.ts";
import { encodeBatch } from "./payload.ts";

/** Brings the queue to the collector, one batch at a time. */
export interface Delivery {
  /** There may be something to send. */
  wake(): void;
  /** A connection is there; `publish` sends one payload over it, and may fail silently. */
  connected(publish: (payload: Buffer) => void): void;
  disconnected(): void;
  /** @returns How long ago the batch that it answers was sent, in milliseconds; null where it answers none of this connection. */
  onAcknowledgement(ack: Acknowledgement): number | null;
  /** Nothing is queued and nothing on its way. */
  drained(): boolean;
  /** When the collector last confirmed something, milliseconds since the epoch. */
  lastAcknowledgedAt(): number | null;
  close(): void;
}

/** Events that come in a burst, as a sweep's answers do, go in one batch; nobody notices this much waiting. */
const GATHER_MS = 50;
/** First wait for an acknowledgement. It doubles, so that a broker whose collector is away is not filled with repetitions. */
const ACK_TIMEOUT_MS = 15_000;
const ACK_TIMEOUT_MAX_MS = 60_000;

interface InFlight {
  readonly queueId: string;
  readonly after: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly sentAt: string;
  readonly sentMonotonic: number;
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
  const patience = createBackoff({ firstMs: 1000, longestMs: 60_000, random: deps.random });
  let publish: ((payload: Buffer) => void) | null = null;
  let inFlight: InFlight | null = null;
  /** Between `take` and `publish`, while the batch is being compressed. */
  let preparing = false;
  let maxEvents = BATCH_MAX_EVENTS;
  let timeoutMs = ACK_TIMEOUT_MS;
  let lastAcknowledgedAt: number | null = null;
  /** A timer is set that will send; further wakes need none. */
  let waiting = false;
  let cancelTimer = () => {};

  function schedule(delayMs: number): void {
    cancelTimer();
    cancelTimer = clock.after(delayMs, () => {
      cancelTimer = () => {};
      if (inFlight) {
        log.warn({ after_ms: timeoutMs, seq: inFlight.lastSeq }, "no acknowledgement came; sending again");
        timeoutMs = Math.min(timeoutMs * 2, ACK_TIMEOUT_MAX_MS);
        inFlight = null;
      }
      waiting = false;
      void send();
    });
  }

  async function send(): Promise<void> {
    const over = publish;
    if (!over || inFlight || preparing) return;
    const batch = outbox.take({ maxEvents, maxBytes: BATCH_MAX_BYTES });
    const first = batch?.events[0];
    const last = batch?.events.at(-1);
    if (!batch || !first || !last) return;
    preparing = true;
    const sentAtMs = clock.now();
    const sentMonotonic = clock.monotonic();
    const payload = await encodeBatch(batch, sentAtMs).finally(() => {
      preparing = false;
    });
    if (publish !== over) {
      // The connection changed while the batch was compressed; the new one begins with a batch of its own.
      void send();
      return;
    }
    inFlight = {
      queueId: batch.queueId, after: batch.after, firstSeq: first.seq, lastSeq: last.seq, sentAt: toInstant(sentAtMs), sentMonotonic,
    };
    if (payload.length > PAYLOAD_MAX_BYTES) {
      tooLarge();
      return;
    }
    over(payload);
    schedule(timeoutMs);
  }

  /** Halves the batch until what cannot be taken is alone, and then lets it go, so that it holds up nothing else. */
  function tooLarge(): void {
    if (!inFlight) return;
    const { firstSeq, lastSeq } = inFlight;
    inFlight = null;
    cancelTimer();
    if (firstSeq === lastSeq) {
      log.error({ seq: firstSeq }, "the collector cannot accept an event; dropped");
      outbox.discard(firstSeq, "too-large");
      maxEvents = BATCH_MAX_EVENTS;
    } else {
      maxEvents = Math.max(1, Math.floor(Math.min(maxEvents, lastSeq - firstSeq + 1) / 2));
    }
    void send();
  }

  function sendNext(): void {
    inFlight = null;
    cancelTimer();
    waiting = false;
    void send();
  }

  /** For answers that change nothing: at once would be as fast as the two sides can go round. */
  function sendLater(): void {
    inFlight = null;
    waiting = true;
    schedule(patience.next() + 100);
  }

  function onRefusal(ack: Acknowledgement, code: NonNullable<Acknowledgement["refused"]>["code"], answered: InFlight): void {
    log.warn({ code, message: ack.refused?.message, seq: answered.lastSeq }, "the collector did not accept a batch");
    switch (code) {
      case "gap":
        if (ack.queue_id !== null && outbox.rewind(ack.queue_id, ack.watermark) === "rewound") sendNext();
        else sendLater();
        return;
      case "too-large":
      case "not-a-batch":
        tooLarge();
        return;
      case "not-ready":
        sendLater();
    }
  }

  return {
    wake() {
      if (!publish || inFlight || preparing || waiting) return;
      waiting = true;
      schedule(GATHER_MS);
    },
    connected(over) {
      publish = over;
      timeoutMs = ACK_TIMEOUT_MS;
      maxEvents = BATCH_MAX_EVENTS;
      sendNext();
    },
    disconnected() {
      publish = null;
      inFlight = null;
      waiting = false;
      cancelTimer();
    },
    onAcknowledgement(ack) {
      const answered = inFlight;
      const mine = answered !== null && (ack.batch_sent_at === null ? ack.refused !== null : ack.batch_sent_at === answered.sentAt);
      const tookMs = mine && ack.batch_sent_at !== null ? clock.monotonic() - answered.sentMonotonic : null;
      if (ack.refused) {
        // A refusal of a batch that was sent again in the meantime would take us back a second time.
        if (mine) onRefusal(ack, ack.refused.code, answered);
        return tookMs;
      }
      if (ack.queue_id === null) return tookMs;
      const outcome = outbox.acknowledge(ack.queue_id, ack.watermark);
      if (outcome === "other-queue") return null;
      lastAcknowledgedAt = clock.now();
      if (!answered) return tookMs;
      const progressed = outcome === "taken" && ack.watermark > answered.after;
      if (progressed) {
        patience.reset();
        timeoutMs = ACK_TIMEOUT_MS;
        maxEvents = Math.min(maxEvents * 2, BATCH_MAX_EVENTS);
      }
      if (outcome === "began-anew") sendLater();
      else if (ack.watermark >= answered.lastSeq || (mine && progressed)) sendNext();
      else if (mine) sendLater();
      return tookMs;
    },
    drained: () => !inFlight && !preparing && outbox.state().events + outbox.state().inMemory === 0,
    lastAcknowledgedAt: () => lastAcknowledgedAt,
    close() {
      publish = null;
      cancelTimer();
    },
  };
}
