import * as z from "zod";

const MIB = 1024 * 1024;

/** Files that go to the collector: `[files]`. */
export const FilesSettings = z.strictObject({
  /** How fast files go to the collector; events go first in any case. */
  bytes_per_second: z.int().min(1024).max(1_000_000_000).default(2 * MIB),
  /** What files that wait to be sent may take together. */
  disk_budget_bytes: z.int().min(MIB).max(1024 * 1024 * MIB).default(2048 * MIB),
}).prefault({});
export type FilesSettings = z.infer<typeof FilesSettings>;
