import * as z from "zod";

/** `[audit]`: How much of the audit log is kept. */
export const AuditSettings = z.strictObject({
  keep_days: z.number().min(1).max(36_500).default(1095),
  keep_records: z.int().min(1000).max(100_000_000).default(1_000_000),
  /** Logins, failed ones and logouts, counted by the hour and beside `keep_records`. */
  keep_authentication_days: z.number().min(1).max(36_500).default(180),
}).prefault({});
export type AuditSettings = z.infer<typeof AuditSettings>;

/** `[rejected]`: Events of probes that could not be read. */
export const RejectedSettings = z.strictObject({
  keep_days: z.number().min(0.01).max(3650).default(30),
  keep_megabytes: z.number().min(1).max(1_000_000).default(64),
}).prefault({});
export type RejectedSettings = z.infer<typeof RejectedSettings>;
