import * as z from "zod";

/** `[configurations]`: Network devices' configurations: versions of each device, and how long; its newest stays. */
export const ConfigurationSettings = z.strictObject({
  keep_versions: z.int().min(2).max(10_000).default(100), keep_days: z.number().min(1).max(36_500).default(730),
}).prefault({});
export type ConfigurationSettings = z.infer<typeof ConfigurationSettings>;
