import { type CommandData, SCAN_PROFILES, type ScanProfileName } from "@lanthorn/contract/uplink";
import { parsePrefix, prefixHolds } from "@lanthorn/packets";
import type { Link } from "../capture/link.ts";
import { MAX_HOST_BITS, type Neighbors6 } from "../search/find-neighbors-ipv6.ts";
import { portsOf } from "./ports/port-lists.ts";
import { createExclusions, type Exclusions, parsePrefixes } from "../egress/exclusions.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import { planTargets, type ScanTargets } from "../sweep/scan-targets.ts";

/** What a scan is to do. */
export interface ScanPlan extends Pick<ScanTargets, "ranges" | "routed"> {
  /** IPv6 of the own link, with the addresses there that somebody was seen at. */
  readonly neighbors6: readonly Neighbors6[];
  readonly hostsTotal: number;
  /** A bound of the profile's own; infinite where it has none. */
  readonly packetsPerSecond: number;
  /** Whether hosts are searched slowly, as the profile or a guarded switch wants it. */
  readonly isGentle: boolean;
  readonly tcpPorts: readonly number[];
  readonly udpPorts: readonly number[];
  /** Whether open ports are asked what they are. */
  readonly hasBanners: boolean;
  /** Whether nmap looks at what was found open. */
  readonly isDeep: boolean;
  /** Addresses that the command excludes, beside those of the configuration. */
  readonly exclusions: Exclusions;
}

/** The profiles that this probe does. */
const PROFILES: ReadonlySet<string> = new Set<ScanProfileName>(["discovery", "gentle", "quick", "standard", "full", "deep"]);

/** @returns The plan, or in words why this scan is not made. */
export function planScan(
  { target, profile, excluded }: CommandData<"scan_start">,
  { link, policy, online6, hasOwnFrames, deepProblem }: {
    readonly link: Link | null;
    readonly policy: EgressPolicy;
    /** IPv6 addresses where hosts are known to be. */
    readonly online6: () => readonly Uint8Array[];
    /** Whether frames other than discovery's can be sent, as hosts behind routers and IPv6 need them. */
    readonly hasOwnFrames: boolean;
    readonly deepProblem: () => string | null;
  },
): ScanPlan | { readonly refused: string } {
  if (!isProfile(profile)) return { refused: `this probe does not support the profile ${profile}; it supports ${[...PROFILES].join(", ")}` };
  if (!policy.mayAsk) return { refused: "this probe's own configuration disables sweeping" };
  const prefix = parsePrefix(target);
  if (!prefix) return { refused: `${target} is not a network` };
  if (!link?.up) return { refused: "the interface is down" };
  if (!policy.reach.covers(prefix, link)) {
    return { refused: `${target} is outside this probe's own networks; add it to scan.networks in the probe's own file to scan it` };
  }
  const parsed = parsePrefixes(excluded);
  if ("wrong" in parsed) return { refused: `excluded: ${JSON.stringify(parsed.wrong)} is neither an address nor a prefix` };
  const targets = planTargets(link, prefix);
  if ("refused" in targets) return targets;
  const { ranges, routed } = targets;
  if (!hasOwnFrames && routed.length + targets.neighbors6.length > 0) {
    return { refused: `${target} is not inside an IPv4 subnet of this interface` };
  }
  const neighbors6 = targets.neighbors6.map((one) =>
    ({ ...one, observed: online6().filter((bytes) => prefixHolds(one.prefix, bytes, 0, 16)) }));
  const hostsTotal = [...ranges, ...routed].reduce((sum, { count }) => sum + count, 0)
    + neighbors6.reduce((sum, one) => sum + countOf(one), 0);
  const problem = profile === "deep" ? deepProblem() : null;
  if (problem !== null) return { refused: problem };
  const { packets_per_second: bound, banners } = SCAN_PROFILES[profile];
  const { tcp: tcpPorts, udp: udpPorts } = portsOf(profile);
  return {
    ranges, routed, neighbors6, hostsTotal, exclusions: createExclusions(parsed.prefixes),
    packetsPerSecond: bound ?? Number.POSITIVE_INFINITY,
    isGentle: bound !== null || policy.isGentle, tcpPorts, udpPorts, hasBanners: banners, isDeep: profile === "deep",
  };
}

function isProfile(profile: string): profile is ScanProfileName {
  return PROFILES.has(profile);
}

/** Of a large prefix only those are asked that were seen. */
function countOf({ prefix, observed }: Neighbors6): number {
  const hostBits = 128 - prefix.length;
  return hostBits <= MAX_HOST_BITS ? 2 ** hostBits : observed.length;
}
