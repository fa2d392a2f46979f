import * as z from "zod";
import { ProbeConfiguration } from "../uplink/messages.ts";
import { Id, Instant, IpNetwork, TimeZone } from "../values.ts";
import { IdPageQuery } from "./envelopes.ts";

const { enabled, interval_seconds: seconds, packets_per_second: rate } = ProbeConfiguration.shape.sweep.shape;

/** How a probe searches for hosts by itself. */
export const SweepSettings = z.object({
  enabled: enabled.describe("Whether the probe searches for hosts by itself."),
  interval_seconds: seconds.describe("Seconds from one round to the next."),
  packets_per_second: rate.describe("The most packets that the probe sends in a second."),
});

/** A place that probes watch, and the settings of its probes. */
export const Site = z.object({
  id: Id.describe("The site's id."),
  name: z.string().describe("The site's name. No two sites have the same name."),
  created_at: Instant.describe("When the site was created."),
  time_zone: z.string().nullable().describe("The place's time zone, by its name in the IANA database, as `Europe/Oslo`. Null where nobody has said it. Times of the API are in UTC whatever it is."),
  sweep: SweepSettings.describe("How often probes search for hosts by themselves, and how fast. A probe's own file may set it slower."),
  excluded: z.array(z.string()).describe("Addresses and networks that no probe of the site ever sends anything to."),
  scan_networks: z.array(z.string()).describe("Networks that may be scanned beyond the probes' own subnets."),
  configuration_revision: z.int().min(0).describe("Number of the settings. It rises with each change that is sent to probes."),
});
export type Site = z.infer<typeof Site>;

const count = (what: string) => z.int().min(0).describe(what);

/** What is at a site, in numbers. */
export const SiteSummary = z.object({
  site_id: Id.describe("The site."),
  name: z.string().describe("The site's name."),
  devices: z.object({
    total: count("Devices of the site."), online: count("Those that are online, as `is_online` says."),
  }).describe("Its devices."),
  alerts: z.object({
    critical: count("Critical ones."), high: count("High ones."), medium: count("Medium ones."), low: count("Low ones."), info: count("For information."),
  }).describe("Its open alerts by severity. Acknowledged ones are not counted."),
  probes: z.object({
    total: count("Probes that are not revoked."), online: count("Those that are online."), silent: count("Those that are silent."),
  }).describe("Its probes."),
});
export type SiteSummary = z.infer<typeof SiteSummary>;

const settings = {
  time_zone: TimeZone.nullable().optional().describe("The place's time zone, by its name in the IANA database. Null for none."),
  sweep: z.strictObject(SweepSettings.shape).partial().optional()
    .describe("How often probes search for hosts by themselves, and how fast. Parts left out stay."),
  excluded: z.array(IpNetwork).max(4096).optional().describe("Addresses and networks that no probe of the site ever sends anything to."),
  scan_networks: z.array(IpNetwork).max(256).optional().describe("Networks that may be scanned beyond the probes' own subnets."),
};
const name = z.string().trim().min(1).max(255).describe("The site's name. No two sites have the same name.");

/** A site to be created. Sweep settings that are left out have defaults. */
export const SiteCreate = z.strictObject({ name, ...settings });
export type SiteCreate = z.infer<typeof SiteCreate>;

/** Fields left out stay. */
export const SiteUpdate = z.strictObject({ name: name.optional(), ...settings });
export type SiteUpdate = z.infer<typeof SiteUpdate>;

/** Filters of the list of sites. */
export const SitesQuery = IdPageQuery.extend({ search: z.string().max(255).optional().describe("Part of the site's name, in any case.") });
export type SitesQuery = z.infer<typeof SitesQuery>;
