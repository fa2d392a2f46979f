import * as z from "zod";

/** `[dns]`: what clients asked of resolvers. */
export const DnsSettings = z.strictObject({
  /** How long it is kept who asked for which names, and how often. */
  keep_query_days: z.number().min(1).max(366).default(7),
}).prefault({});
export type DnsSettings = z.infer<typeof DnsSettings>;
