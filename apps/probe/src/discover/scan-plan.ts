import { type CommandData, SCAN_PROFILES, type ScanProfileName } from "@lanthorn/contract";
import { parsePrefix, prefixCovers } from "../observe/address-prefix.ts";
import type { Link } from "../observe/link.ts";
import { portsOf } from "../scan/port-lists.ts";
import { createExclusions, type Exclusions, parsePrefixes } from "./exclusions.ts";
import type { Policy } from "./policy.ts";
import { planSweep, type SweepRange } from "./sweep-plan.ts";

/** What a scan is to do. */
export interface ScanPlan {
  readonly ranges: readonly SweepRange[];
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
  { link, policy, deepProblem }: { readonly link: Link | null; readonly policy: Policy; readonly deepProblem: () => string | null },
): ScanPlan | { readonly refused: string } {
  if (!isProfile(profile)) return { refused: `this probe does not do the profile ${profile}, but ${[...PROFILES].join(", ")}` };
  if (!policy.mayAsk) return { refused: "this probe's own configuration has sweeping switched off" };
  const prefix = parsePrefix(target);
  if (prefix?.bytes.length !== 4) return { refused: `${target} is no IPv4 network` };
  if (!link?.up) return { refused: "the interface is down" };
  if (policy.networks.length > 0 && !policy.networks.some((network) => prefixCovers(network, prefix))) {
    return { refused: `${target} is outside the networks of this probe's own configuration` };
  }
  const parsed = parsePrefixes(excluded);
  if ("wrong" in parsed) return { refused: `excluded: ${JSON.stringify(parsed.wrong)} is neither an address nor a prefix` };
  const { ranges, refused } = planSweep(link, [prefix]);
  const hostsTotal = ranges.reduce((sum, { count }) => sum + count, 0);
  if (hostsTotal === 0) return { refused: refused[0] ?? `${target} holds no address of another host` };
  const problem = profile === "deep" ? deepProblem() : null;
  if (problem !== null) return { refused: problem };
  const { packets_per_second: bound, banners } = SCAN_PROFILES[profile];
  const { tcp: tcpPorts, udp: udpPorts } = portsOf(profile);
  return {
    ranges, hostsTotal, exclusions: createExclusions(parsed.prefixes), packetsPerSecond: bound ?? Number.POSITIVE_INFINITY,
    isGentle: bound !== null || policy.isGentle, tcpPorts, udpPorts, hasBanners: banners, isDeep: profile === "deep",
  };
}

function isProfile(profile: string): profile is ScanProfileName {
  return PROFILES.has(profile);
}
