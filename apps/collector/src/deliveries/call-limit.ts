import type { EventType } from "@lanthorn/contract";
import type { AppendedEvent } from "../events/log.ts";

/** Of one type, that one probe reports within the window. What an honest one reports of the worst attack is a tenth of it. */
export const MAX_CALLS = 1000;
const WINDOW_MS = 10 * 60_000;
/** What a probe concludes by itself, each of which calls a webhook. How many hosts it may announce is ingest's matter. */
const LIMITED: ReadonlySet<EventType> = new Set<EventType>(["ids_alert", "honeypot_hit", "rogue_detected"]);
/** Windows that are past say nothing; they are dropped when there are this many. */
const MAX_WINDOWS = 4096;

/** Bounds how often what one probe reports may call webhooks. Counts in this process only. */
export interface CallLimit {
  /** Counts the event. @returns Whether webhooks are called for it. */
  take(event: Pick<AppendedEvent, "type" | "probe_id" | "received_at">): boolean;
}

/** By when events were received: a probe chooses what it says of when they were. */
export function createCallLimit(): CallLimit {
  const windows = new Map<string, { from: number; calls: number }>();
  const isPast = ({ from }: { readonly from: number }, now: number) => now < from || now - from >= WINDOW_MS;
  return {
    take({ type, probe_id: probeId, received_at: receivedAt }) {
      if (probeId === null || !LIMITED.has(type)) return true;
      const [key, now] = [`${probeId} ${type}`, Date.parse(receivedAt)];
      let window = windows.get(key);
      if (!window || isPast(window, now)) {
        windows.set(key, (window = { from: now, calls: 0 }));
        if (windows.size > MAX_WINDOWS) for (const [id, one] of windows) if (isPast(one, now)) windows.delete(id);
      }
      window.calls += 1;
      return window.calls <= MAX_CALLS;
    },
  };
}
