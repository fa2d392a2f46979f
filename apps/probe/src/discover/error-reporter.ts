import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { EventSink } from "../queue/publisher.ts";

const REPEAT_ERROR_MS = 3_600_000;

/** Reports an error once an hour for each kind and text. */
export function createErrorReporter({ outbox, clock, log }: {
  readonly outbox: EventSink;
  readonly clock: Clock;
  readonly log: Log;
}): (code: string, message: string) => void {
  const reportedAt = new Map<string, number>();
  return (code, message) => {
    const key = code === "host-limit" ? code : `${code} ${message}`;
    const now = clock.monotonic();
    if (now - (reportedAt.get(key) ?? Number.NEGATIVE_INFINITY) < REPEAT_ERROR_MS) return;
    reportedAt.set(key, now);
    log.warn({ code }, message);
    outbox.append([{ type: "error", occurred_at: toInstant(clock.now()), data: { code, message } }]);
  };
}
