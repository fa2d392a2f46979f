import * as z from "zod";

const MIB = 1024 * 1024;

/** The queue of events on disk: `[queue]`. */
export const QueueSettings = z.strictObject({
  disk_budget_bytes: z.int().min(MIB).max(64 * 1024 * MIB).default(512 * MIB),
}).prefault({});
