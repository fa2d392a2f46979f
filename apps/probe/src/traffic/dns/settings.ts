import * as z from "zod";

const Domain = z.string().min(1).max(253).regex(/^[^\s/]+$/, "a domain, as example.com");

/** Threats in other people's DNS: `[traffic.dns]`. */
export const DnsWatchSettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Domains of which nothing is reported, with all below them: the site's own, and what is known to look so. */
  allow: z.array(Domain).max(1000).default([]),
  /** The resolvers of the site. Empty for those that DHCP names. */
  resolvers: z.array(z.union([z.ipv4(), z.ipv6()])).max(16).default([]),
}).prefault({});
/** `[traffic.dns]`, with every default. */
export type DnsWatchSettings = z.infer<typeof DnsWatchSettings>;
