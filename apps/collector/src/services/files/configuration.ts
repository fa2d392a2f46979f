import * as z from "zod";

/** `[files]`: what each probe may send up and leave here. */
export const FileSettings = z.strictObject({
  /** Of one file. */
  max_megabytes: z.number().min(1).max(65_536).default(1024),
  /** Of all files that one probe sends within 24 hours, those that were damaged and came again counted each time. */
  day_megabytes: z.number().min(1).max(1_000_000).default(4096),
  /** Of all files of one probe that are here, unfinished ones with their whole size. */
  keep_megabytes: z.number().min(1).max(10_000_000).default(8192),
  /** How long a whole file is kept. */
  keep_days: z.number().min(1).max(3650).default(30),
  /** How long an unfinished one waits for its next piece. */
  unfinished_hours: z.number().min(24).max(720).default(72),
}).prefault({});
export type FileSettings = z.infer<typeof FileSettings>;
