import * as z from "zod";

/** Everything that is seen, kept on this machine's disk for as long as there is room: `[traffic.continuous]`. */
export const ContinuousSettings = z.strictObject({
  enabled: z.boolean().default(false),
  /** What the files may take together; the oldest goes first. */
  budget_megabytes: z.int().min(8).max(64 * 1024 * 1024).default(1024),
  /** What stays free on the disk, whoever uses it. */
  free_floor_megabytes: z.int().min(0).max(16 * 1024 * 1024).default(512),
  /** A file ends after this. */
  file_seconds: z.int().min(1).max(3600).default(60),
  /** And at this size, or an eighth of the room that there is, if that is less. */
  file_megabytes: z.int().min(1).max(16 * 1024).default(256),
}).prefault({});
/** `[traffic.continuous]`, with every default. */
export type ContinuousSettings = z.infer<typeof ContinuousSettings>;
