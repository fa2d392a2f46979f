import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { PeriodQuery } from "./envelopes.ts";

/** Days that changes are counted back at most. */
export const MAX_CHANGE_DAYS = 31;
/** Sites that are named of those where something has changed. */
export const MAX_CHANGED_SITES = 200;

const count = (what: string) => z.int().min(0).describe(what);

const counts = {
  devices: z.object({
    new: count("Those that were seen for the first time, and still are there."), gone: count("Those that went offline, and still are."),
  }).describe("Devices that came and went."),
  alerts: z.object({
    critical: count("Critical ones."), high: count("High ones."), medium: count("Medium ones."), low: count("Low ones."), info: count("For information."),
    resolved: count("Those that were resolved, whenever they began."),
  }).describe("Alerts that were seen for the first time, by severity, whatever became of them; and those that were resolved."),
  vulnerabilities: count("Known vulnerabilities that were found in a service of a device."),
  configurations: count("Configurations of devices that another one followed."),
  silent_probes: count("Probes that fell silent, and still are."),
};

/** What changed at a site. */
export const SiteChanges = z.object({ site_id: Id.describe("The site."), ...counts });
export type SiteChanges = z.infer<typeof SiteChanges>;

/** What changed since a moment. */
export const Changes = z.object({
  since: Instant.describe(`From when on it is counted: at most ${MAX_CHANGE_DAYS} days back, and no later than now, whatever was asked for.`),
  until: Instant.describe("When it was counted: what `last_seen` of the preferences can be set to."),
  total: z.object(counts).describe("All of it, also what is of no site."),
  sites: z.array(SiteChanges).describe(`Sites where something changed, those with the gravest alerts first, at most ${MAX_CHANGED_SITES}.`),
});
export type Changes = z.infer<typeof Changes>;

/** Since when, and where. */
export const ChangesQuery = z.object({
  since: PeriodQuery.shape.since.describe(
    "From this moment on: an ISO 8601 instant as `2026-11-20T15:37:57Z`, or how long ago as `24h`. If left out, since the `last_seen` of the preferences, or within 24 hours.",
  ),
  site_id: Id.optional().describe("Only what is of this site."),
});
export type ChangesQuery = z.infer<typeof ChangesQuery>;
