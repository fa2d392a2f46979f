import { readAnswer } from "../rules/answers.ts";
import { type DeviceClaim, deviceClaims } from "./device-claims.ts";

/** What a neighbor says of itself by LLDP, CDP or their kin. */
export interface NeighborSaid {
  /** As `lldp`. */
  readonly protocol: string;
  /** Enabled ones, in LLDP's words. */
  readonly capabilities: readonly string[];
  readonly systemDescription: string;
  /** CDP's platform, or LLDP-MED's model. */
  readonly platform: string;
}

/**
 * Kinds of machines by what they do, the most specific first. A switch that routes is a switch still;
 * a phone bridges for the desk's computer.
 */
const TYPES = [
  ["telephone", "phone", 0.8], ["wlan-ap", "access_point", 0.8], ["bridge", "switch", 0.7], ["router", "router", 0.7],
] as const;

/** A computer that bridges for its virtual machines or containers is no switch for that. */
const GENERAL_PURPOSE = /\b(?:Debian|Ubuntu|Linux|Windows|Proxmox|VMware|Darwin|FreeBSD)\b/i;
const NETWORK_SYSTEM = /\b(?:switch|router|Cumulus|VyOS|EdgeOS|OpenWrt|MikroTik|RouterOS)\b/i;
const BRIDGING_COMPUTER = 0.35;

/** What a neighbor's advertisement says of it. */
export function readNeighbor({ protocol, capabilities, systemDescription, platform }: NeighborSaid): readonly DeviceClaim[] {
  const [capability, type, confidence = 0] = TYPES.find(([name]) => capabilities.includes(name)) ?? [];
  const isComputer = GENERAL_PURPOSE.test(systemDescription) && !NETWORK_SYSTEM.test(systemDescription);
  const isTransit = capability === "bridge" || capability === "router";
  const sureness = isComputer && isTransit ? BRIDGING_COMPUTER : confidence;
  const byCapability: readonly DeviceClaim[] = type === undefined
    ? []
    : [{ field: "device_type", value: type, source: protocol, confidence: sureness }];
  const described = [...readAnswer("snmp-description", systemDescription), ...systemOf(systemDescription)];
  return [
    ...byCapability,
    ...deviceClaims(described).map((claim) => ({ ...claim, source: `${protocol}:description` })),
    ...deviceClaims(readAnswer("platform", platform)).map((claim) => ({ ...claim, source: `${protocol}:platform` })),
  ];
}

/** As lldpd describes a machine: `Debian GNU/Linux 12 (bookworm) Linux 6.1.0-18-amd64 #1 SMP … x86_64`. */
function systemOf(description: string): ReturnType<typeof readAnswer> {
  const [, os = "", version = ""] =
    /^(Debian|Ubuntu|Fedora|Rocky Linux|AlmaLinux|Cumulus Linux|Alpine Linux)(?: GNU\/Linux)?(?: version)?[ v]*(\d[\d.]*)?/
      .exec(description) ?? [];
  const claim = (field: "os" | "os_version", value: string) => (value === "" ? [] : [{ field, value, source: "", confidence: 0.85 }]);
  return [...claim("os", os), ...claim("os_version", version)];
}
