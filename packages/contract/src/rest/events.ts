import * as z from "zod";
import { EVENT_TYPES, STREAM_EVENTS, WEBHOOK_EVENTS } from "../events/table.ts";
import { Id, Instant, parseDuration } from "../values.ts";
import { listQuery, PeriodQuery } from "./envelopes.ts";

/** One event of the log, with the names that it has on the stream and in webhooks. */
export const EventRecord = z.object({
  id: Id.describe("The event's id, the same on the stream and in webhooks."),
  seq: z.int().min(0).describe("Its position in the tenant's log, the same as on the stream. It rises with every event."),
  type: z.enum(EVENT_TYPES).describe("What happened."),
  event: z.enum(STREAM_EVENTS).nullable().describe("Its name on the stream. Null where it is not sent there."),
  webhook_event: z.enum(WEBHOOK_EVENTS).nullable().describe("Its name in webhooks. Null where it is not sent there."),
  timestamp: Instant.describe("When it happened, by the clock of the probe or collector that saw it."),
  received_at: Instant.describe("When the collector stored it."),
  site_id: Id.nullable().describe("The site that it is about. Null for none."),
  probe_id: Id.nullable().describe("The probe that saw it. Null where the collector saw it."),
  device_id: Id.nullable().describe("The device that it is about. Null where it is not about one device."),
  data: z.record(z.string(), z.unknown()).describe("What the stream and webhooks send as `data`, without the three ids."),
});
export type EventRecord = z.infer<typeof EventRecord>;

const Seq = /^\d{1,15}$/;

/** Oldest first. A page may hold fewer events than `per_page`, or none, while there are more: read on until `next_cursor` is null. */
export const EventsQuery = z.object({
  since: z.string().max(64).refine((text) => Seq.test(text) || isMoment(text), {
    error: "must be a sequence number, an ISO 8601 instant, or a duration as 90s 15m 24h 7d 2w",
  }).optional().describe("Events after this `seq`, or received from this moment on: an ISO 8601 instant, or how long ago as `24h`."),
  until: PeriodQuery.shape.until.describe("Events received before this moment, written as `since`."),
  types: listQuery([...STREAM_EVENTS, ...WEBHOOK_EVENTS]).optional()
    .describe("Names of stream or webhook events, with commas. Without it every event that the caller may read."),
  site_id: Id.optional().describe("Only events of this site."),
  per_page: z.coerce.number().int().min(1).max(1000).default(100).describe("At most this many events, 1 to 1000."),
  cursor: z.string().regex(Seq, "must be `meta.next_cursor` of a page").optional().describe("`meta.next_cursor` of the page before."),
});
export type EventsQuery = z.infer<typeof EventsQuery>;

/** A part of the log. */
export const EventsPage = z.object({
  data: z.array(EventRecord).describe("Events, oldest first."),
  meta: z.object({
    page: z.literal(1).describe("Always 1: the log is read by cursor."),
    per_page: z.int().describe("The requested page size."),
    total: z.int().describe("How many entries the log has in the period, before `types` and `site_id`: an upper bound."),
    next_cursor: z.string().nullable().describe("Send it as `cursor` to read on. Null at the end of the period."),
    position: z.int().describe("The last position that was read. Send it as `since` later to read on without gaps."),
  }).describe("Where the page is in the log."),
});
export type EventsPage = z.infer<typeof EventsPage>;

function isMoment(text: string): boolean {
  return parseDuration(text) !== null || z.iso.datetime({ offset: true }).safeParse(text).success;
}
