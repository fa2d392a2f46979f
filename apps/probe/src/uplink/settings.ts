import * as z from "zod";

/** Where the collector is: `[collector]`. */
export const CollectorSettings = z.strictObject({
  /** Where renewal goes; what was given at enrollment unless set. */
  url: z.url({ protocol: /^https?$/, error: "a URL that begins with https://" }).nullable().default(null),
  /** Defaults to the URL that the collector gave at enrollment. */
  mqtt_url: z.url({ protocol: /^mqtts?$/, error: "a URL that begins with mqtts://" }).nullable().default(null),
}).prefault({});
export type CollectorSettings = z.infer<typeof CollectorSettings>;
