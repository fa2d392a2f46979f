import * as z from "zod";

/** `[scans]`: Scans that have ended. */
export const ScanSettings = z.strictObject({ keep_days: z.number().min(1).max(36_500).default(365) }).prefault({});
