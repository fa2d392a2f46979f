import * as z from "zod";

/** A limit in percent, degrees and so on, above which the probe raises an alert; `false` for none. */
const limit = (initial: number, highest: number) => z.union([z.number().gt(0).max(highest), z.literal(false)], {
  error: `a number above 0, at most ${highest}, or false for no limit`,
}).default(initial);

/** How the probe itself is: `[health]`. */
export const HealthSettings = z.strictObject({
  interval_seconds: z.int().min(5).max(3600).default(30),
  /** How many reports in a row must be over a limit before an alert is raised. */
  samples: z.int().min(1).max(100).default(3),
  limits: z.strictObject({
    cpu_percent: limit(80, 10_000),
    memory_used_percent: limit(95, 100),
    disk_used_percent: limit(95, 100),
    load_per_core: limit(4, 1000),
    temperature_celsius: limit(85, 150),
    /** Share of frames that were lost before the probe could look at them. */
    capture_drops_percent: limit(1, 100),
    /** Share of the traffic process's frames that were lost before it could look at them. */
    traffic_drops_percent: limit(1, 100),
    /** Share of its frames that a part of the recorder did without because of overload. */
    traffic_shed_percent: limit(1, 100),
    /** Of the disk budget. */
    queue_used_percent: limit(50, 100),
    clock_offset_seconds: limit(30, 86_400),
  }).prefault({}),
}).prefault({});
export type HealthSettings = z.infer<typeof HealthSettings>;
