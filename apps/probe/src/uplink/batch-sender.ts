import { BATCH_MAX_BYTES, PAYLOAD_MAX_BYTES } from "@lanthorn/contract/uplink";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Outbox, OutboxBatch } from "../queue/outbox.ts";
import { createBatchLimit } from "./batch-limit.ts";
import { encodeBatch } from "./payload.ts";
import { createSendTimer } from "./send-timer.ts";

/** A batch that was sent and not answered yet. */
export interface BatchInFlight {
  /** The queue's watermark when it was sent. */
  readonly after: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly sentAt: string;
  readonly sentMonotonic: number;
}

/** Sends the queue's events in batches, one at a time. A batch without an answer is sent again after a timeout. */
export interface BatchSender {
  /** There may be something to send: it is sent soon, with what comes in the meantime. */
  wake(): void;
  /** `publish` sends one payload over the new connection, and may fail silently. */
  connected(publish: (payload: Buffer) => void): void;
  disconnected(): void;
  readonly inFlight: BatchInFlight | null;
  /** A batch is being compressed, or waits for its answer. */
  isBusy(): boolean;
  /** The batch in flight is answered: the next one goes now. */
  sendNext(): void;
  /** The batch in flight changed nothing: the next one goes after a pause. At once would be as fast as the two sides can go round. */
  sendLater(): void;
  /** The collector took events: batches grow again, and pauses are short. */
  progressed(): void;
  /** The collector cannot take the batch in flight: it is halved until the event at fault is alone, which is then dropped. */
  tooLarge(): void;
}

interface BatchSenderDependencies {
  readonly outbox: Pick<Outbox, "take" | "discard">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** @param deps.outbox Where batches are read, and an event that cannot be sent is dropped. */
export function createBatchSender({ outbox, clock, random, log }: BatchSenderDependencies): BatchSender {
  const limit = createBatchLimit();
  let publish: ((payload: Buffer) => void) | null = null;
  let inFlight: BatchInFlight | null = null;
  /** Between `take` and `publish`, while the batch is being compressed. */
  let preparing = false;
  const timer = createSendTimer({
    clock, random,
    onDue: () => void send(),
    onTimeout(waitedMs) {
      log.warn({ after_ms: waitedMs, seq: inFlight?.lastSeq }, "no acknowledgement came; sending again");
      sendNext();
    },
  });

  async function send(): Promise<void> {
    const over = publish;
    if (!over || inFlight || preparing) return;
    const batch = outbox.take({ maxEvents: limit.maxEvents, maxBytes: BATCH_MAX_BYTES });
    const next = batch && describeBatch(batch, clock);
    if (!next) return;
    preparing = true;
    const payload = await encodeBatch(batch, next.sentAt).finally(() => {
      preparing = false;
    });
    // The connection changed while the batch was compressed; the new one begins with a batch of its own.
    if (publish !== over) return void send();
    inFlight = next;
    if (payload.length > PAYLOAD_MAX_BYTES) return tooLarge();
    over(payload);
    timer.expectAcknowledgement();
  }

  function tooLarge(): void {
    if (!inFlight) return;
    const { firstSeq, lastSeq } = inFlight;
    if (!limit.halve(lastSeq - firstSeq + 1)) {
      log.error({ seq: firstSeq }, "the collector cannot accept an event; dropped");
      outbox.discard(firstSeq, "too-large");
    }
    sendNext();
  }

  function sendNext(): void {
    inFlight = null;
    timer.stop();
    void send();
  }

  return {
    wake() {
      if (publish && !inFlight && !preparing) timer.gather();
    },
    connected(over) {
      publish = over;
      limit.reset();
      timer.resetTimeout();
      sendNext();
    },
    disconnected() {
      publish = null;
      inFlight = null;
      timer.stop();
    },
    get inFlight() {
      return inFlight;
    },
    isBusy: () => inFlight !== null || preparing,
    sendNext,
    sendLater() {
      inFlight = null;
      timer.pause();
    },
    progressed() {
      limit.grow();
      timer.reset();
    },
    tooLarge,
  };
}

/** @returns Null for a batch without events. */
function describeBatch({ after, events }: OutboxBatch, clock: Clock): BatchInFlight | null {
  const first = events[0];
  const last = events.at(-1);
  return first && last
    ? { after, firstSeq: first.seq, lastSeq: last.seq, sentAt: toInstant(clock.now()), sentMonotonic: clock.monotonic() }
    : null;
}
