import * as z from "zod";

/** `[probes]`: What a probe may do. */
export const ProbeLimitSettings = z.strictObject({
  silent_after_seconds: z.int().min(1).max(86_400).default(90),
  /** What one probe may add to the database in the long run; four minutes of it may come at once. */
  quota_megabytes_per_minute: z.number().min(0.1).max(100_000).default(64),
}).prefault({});
