import * as z from "zod";
import { Instant } from "../values.ts";

/** VLANs that a probe lists; a trunk may carry more. */
export const MAX_COVERAGE_VLANS = 64;

const since = Instant.describe("Since when it is so, by the probe's clock; at the earliest since the probe started.");
const Seen = z.object({ value: z.boolean().describe("Whether it was seen of late."), since });

/** What a probe can see of its network: what was seen of late, and since when that is so. */
export const ProbeCoverage = z.object({
  vlans: z.object({
    value: z.array(z.int().min(1).max(4094)).max(MAX_COVERAGE_VLANS).describe("VLANs in tags of the last hour, ascending, at most 64."), since,
  }).describe("VLANs beside the untagged one."),
  other_hosts: z.object({
    value: z.enum(["both_ways", "one_way", "none"]).describe(
      "`both_ways`: what other hosts send to each other reaches the probe, as on a mirror port. `one_way`: some of it, as a switch floods. `none`: nothing.",
    ),
    since,
  }).describe("Unicast frames of the last ten minutes that are neither from nor to the probe."),
  gateway: z.object({
    value: z.enum(["answers", "silent", "none"])
      .describe("`answers`: the default gateway was heard on the link in the last ten minutes. `silent`: it was not. `none`: the probe has no default gateway."),
    since,
  }).describe("The probe's default gateway."),
  lldp: Seen.describe("LLDP of a neighbor, in the last five minutes."),
  cdp: Seen.describe("CDP of a neighbor, in the last five minutes."),
  spanning_tree: Seen.describe("Spanning tree messages of a switch, in the last five minutes."),
  ipv6: Seen.describe("IPv6 of other hosts, in the last hour."),
  dhcp: z.object({
    value: z.enum(["answered", "asked", "none"])
      .describe("`answered`: a DHCP server was heard in the last day. `asked`: only clients were. `none`: neither."),
    since,
  }).describe("DHCP for IPv4."),
});
export type ProbeCoverage = z.infer<typeof ProbeCoverage>;
