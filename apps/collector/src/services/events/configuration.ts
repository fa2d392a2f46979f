import * as z from "zod";

/** `[events]`: How much of the event log is kept. */
export const EventSettings = z.strictObject({
  keep_days: z.number().min(0.01).max(3650).default(30),
  keep_megabytes: z.number().min(1).max(10_000_000).default(2048),
}).prefault({});
export type EventSettings = z.infer<typeof EventSettings>;
