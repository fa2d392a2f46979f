import * as z from "zod";
import { Instant } from "../values.ts";

/** Feedback of a site that has not expired. */
export const MAX_ACCEPTED_ANOMALIES = 256;

/** What people said is normal for a device, or for a group of like devices: the part `anomalies` of a probe's configuration. A kind that the probe does not know matches nothing. */
export const AnomaliesPart = z.object({
  accepted: z.array(z.object({
    kind: z.string().max(64),
    /** The device's name at the probe, or a group's; one of the two. */
    device: z.string().max(64).optional(),
    group: z.string().max(64).optional(),
    /** By packet time; left out for always. */
    until: Instant.optional(),
  })).max(MAX_ACCEPTED_ANOMALIES),
});
export type AnomaliesPart = z.infer<typeof AnomaliesPart>;
