import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { EVENTS, type EventType, STREAM_EVENTS, type StreamEvent, WEBHOOK_EVENTS } from "./table.ts";

/** Where the collector's WebSocket of events is. */
export const STREAM_PATH = "/ws/events";

/** What the collector adds to the data of every event that it sends out. `device_id` is null where no one device is meant. */
export const EventOrigin = z.object({ site_id: Id.nullable(), probe_id: Id.nullable(), device_id: Id.nullable() });
export type EventOrigin = z.infer<typeof EventOrigin>;

/** A frame of `/ws/events`: the specified envelope, and `id` and `seq` for resuming. `seq` rises by tenant. */
export const StreamFrame = z.object({
  event: z.enum(STREAM_EVENTS),
  timestamp: Instant,
  data: z.record(z.string(), z.unknown()),
  id: Id,
  seq: z.int().min(0),
});
export type StreamFrame = z.infer<typeof StreamFrame>;

/** A webhook's body. */
export const WebhookPayload = z.object({
  id: Id,
  event: z.enum(WEBHOOK_EVENTS),
  timestamp: Instant,
  tenant_id: Id,
  data: z.record(z.string(), z.unknown()),
});
export type WebhookPayload = z.infer<typeof WebhookPayload>;

/** The schemas that the data of a stream event may have: one for each event type that becomes it. */
export function streamDataSchemas(event: StreamEvent): readonly z.ZodObject[] {
  return (Object.keys(EVENTS) as EventType[]).filter((type) => EVENTS[type].stream === event)
    .map((type) => EVENTS[type].data.extend(EventOrigin.shape));
}
