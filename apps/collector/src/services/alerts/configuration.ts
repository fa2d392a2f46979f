import * as z from "zod";

/** `[alerts]`: How long alerts are kept, and how many may be open. */
export const AlertSettings = z.strictObject({
  /** Resolved ones; others are kept until they are. */
  keep_days: z.number().min(1).max(36_500).default(365),
  /** Alerts of one type at a site that may be open by what probes tell; of more, one says how many. */
  keep_open: z.int().min(20).max(1_000_000).default(1000),
}).prefault({});
