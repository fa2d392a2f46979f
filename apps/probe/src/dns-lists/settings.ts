import * as z from "zod";

/** What the daemon does for the resolver of this machine: `[dns]`. */
export const DnsListsSettings = z.strictObject({
  /** Where block lists of the collector's are left for the resolver, which is another user. The service's unit names it; lists are fetched where it is there. */
  directory: z.string().min(1).nullable().default(null),
}).prefault({});
/** With every default. */
export type DnsListsSettings = z.infer<typeof DnsListsSettings>;
