import { EVENTS, type EventType, type StreamFrame } from "@lanthorn/contract";
import type { StoredEvent } from "./log-store.ts";

/** A stored event, of a type that reaches the stream, as the JSON text of a frame. */
export function toFrame(event: StoredEvent): string {
  return JSON.stringify({
    event: EVENTS[event.type as EventType].stream ?? "error",
    timestamp: event.occurred_at,
    data: {
      ...(JSON.parse(event.data) as Record<string, unknown>),
      site_id: event.site_id, probe_id: event.probe_id, device_id: event.device_id,
    },
    id: event.id,
    seq: event.seq,
  } satisfies StreamFrame);
}

/** Says that events after `since` are missing. Its `seq` is where the stream goes on, and so a good place to resume from. */
export function gapFrame(gap: { readonly id: string; readonly timestamp: string; readonly since: number; readonly seq: number }): string {
  return JSON.stringify({
    event: "error",
    timestamp: gap.timestamp,
    data: {
      code: "gap", message: `the log does not reach back to ${gap.since}: resume after ${gap.seq}`,
      site_id: null, probe_id: null, device_id: null,
    },
    id: gap.id,
    seq: gap.seq,
  } satisfies StreamFrame);
}
