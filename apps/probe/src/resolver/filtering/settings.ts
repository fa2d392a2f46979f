import * as z from "zod";

/** A block list on this machine: `[[lists]]`. */
export const ListSettings = z.strictObject({
  name: z.string().min(1).max(100),
  file: z.string().min(1),
  /** Found out from the file's beginning where it is not given. */
  format: z.enum(["hosts", "domains", "wildcard", "adblock", "dnsmasq", "rpz"]).optional(),
  /** What its names are: `advertising`, `phishing`, `malware`, `command-and-control`, or another word. */
  category: z.string().min(1).max(64).default("other"),
  /** `observe` counts what the list would have done, and does nothing. */
  mode: z.enum(["enforce", "observe"]).default("enforce"),
  /** Of a response policy zone, where the file does not name it. */
  origin: z.string().max(253).optional(),
});
/** With every default. */
export type ListSettings = z.infer<typeof ListSettings>;

/** What is done with names that lists have: `[filter]`. */
export const FilterSettings = z.strictObject({
  /** How a blocked name is answered, whatever type is asked for. */
  blocked: z.enum(["nxdomain", "zero", "nodata", "refused"]).default("nxdomain"),
  /** Names that no list blocks, with all below them. */
  allow: z.array(z.string().min(1).max(253)).max(10_000).default([]),
  /** A list that would block one of these, or a name above one, is not used at all. */
  protected: z.array(z.string().min(1).max(253)).max(10_000).default([]),
  /** iCloud Private Relay takes names past this resolver. */
  private_relay: z.enum(["allow", "block"]).default("allow"),
  /** Firefox asks a resolver of its own unless `use-application-dns.net` is denied. */
  browser_dns: z.enum(["allow", "block"]).default("allow"),
}).prefault({});
/** With every default. */
export type FilterSettings = z.infer<typeof FilterSettings>;
