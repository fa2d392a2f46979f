import { ProbeConfiguration } from "@lanthorn/contract/uplink";
import * as z from "zod";

/** What is usual for the devices of a site, and what is not: `[traffic.anomalies]`. */
export const AnomalySettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Devices that are followed, at some 30 KB each. The one that was silent for longest gives way. */
  max_devices: z.int().min(1).max(10_000).default(1000),
  /** Pairs of a device and a host outside that are looked at for beacons, at some 1 KB each. */
  max_pairs: z.int().min(1).max(100_000).default(10_000),
  /** Alerts of a day; what is beyond is kept at the collector and raises none. */
  alerts_a_day: z.int().min(0).max(1000).default(5),
}).prefault({});
/** `[traffic.anomalies]`, with every default. */
export type AnomalySettings = z.infer<typeof AnomalySettings>;

/** What the collector pushes to it: what people said is normal. */
export const anomaliesPart = ProbeConfiguration.pick({ anomalies: true });
