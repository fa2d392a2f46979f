import * as z from "zod";
import { Id, Instant } from "../values.ts";

/** What a probe knows of what reaches it. */
const COVERAGE_FACTS = ["own_networks", "vlans", "other_hosts", "gateway", "lldp", "cdp", "spanning_tree", "ipv6", "dhcp"] as const;

/** How much of what it looks for a detector can see. */
const COVERAGE_STATES = ["sees", "partly", "blind"] as const;

const CoverageFact = z.object({
  fact: z.enum(COVERAGE_FACTS).describe("What it is about."),
  value: z.string().describe("What the probe sees, for people."),
  since: Instant.nullable().describe("Since when it is so; at the earliest since the probe started. Null where that is not known."),
});

const CoverageDetector = z.object({
  name: z.string().describe("The detector."),
  state: z.enum(COVERAGE_STATES).describe("`sees`: it sees what it looks for. `partly`: it misses some of it. `blind`: it sees nothing of it."),
  why: z.string().describe("Why that is so."),
  what_to_do: z.string().nullable().describe("What to change so that it sees more. Null where nothing is to be changed."),
});

/** What one probe can see. */
const ProbeCoverageRecord = z.object({
  probe_id: Id.describe("The probe's id."),
  name: z.string().describe("The probe's name."),
  is_online: z.boolean().describe("Whether the probe is there now. Where it is not, it sees nothing, and the rest is as it was."),
  reported_at: Instant.nullable().describe("When it last reported what it sees. Null where it never has: it is new, too old, or its guards are off."),
  facts: z.array(CoverageFact).describe("What reaches the probe. Empty where it has not reported it."),
  detectors: z.array(CoverageDetector).describe("What its detectors can see by that. Empty where it has not reported anything."),
});
/** What one probe can see. */
export type ProbeCoverageRecord = z.infer<typeof ProbeCoverageRecord>;

/** What a site's probes can see, and for what they are blind. */
export const SiteCoverage = z.object({
  site_id: Id.describe("The site."),
  probes: z.array(ProbeCoverageRecord).describe("The site's probes, but for revoked ones."),
});
/** What a site's probes can see. */
export type SiteCoverage = z.infer<typeof SiteCoverage>;
