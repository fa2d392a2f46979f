import type { GuardKind } from "@lanthorn/contract";
import type { HostPlan } from "../host-plan.ts";

/** A host that a scenario brings to the LAN. */
export interface ScenarioHost {
  /** Static addresses with their prefix length; none unless given. */
  readonly addresses?: readonly string[];
  readonly mac: string;
  /** Leases an address under this name. */
  readonly leasesAs?: string;
  /** Shell lines before its interface speaks, as `HostPlan` has them. */
  readonly network?: HostPlan["network"];
  /** What it does, as a shell script on `eth0`: the scenario's tools are found by their names, `forge` is our own. */
  readonly run: string;
}

/** What a run of a scenario has for itself, so that runs do not meet in an address or a MAC. */
export interface Variant {
  /** Counts runs of the same scenario. */
  readonly index: number;
  /** An address of the LAN that nobody has, without prefix length; the same for the same number. */
  readonly ip: (number: number) => string;
  /** A MAC that nobody has; the same for the same number. */
  readonly mac: (number: number) => string;
  /** It is recorded for a small capture, so that a flood is no faster than it must be. */
  readonly isRecorded: boolean;
}

/** One attack, or something normal that looks like one. */
export interface Scenario {
  /** Letters, digits and hyphens, at most 28. */
  readonly name: string;
  readonly kind: "attack" | "normal";
  /** What happens, in a sentence. */
  readonly what: string;
  /** Kinds of incidents of which at least one must be seen; none for what is normal. */
  readonly guards: readonly GuardKind[];
  /** Debian packages of its tools, fetched when it is started. */
  readonly packages: readonly string[];
  /** For so long it runs until it has shown all; what does not end by itself is ended then. */
  readonly seconds: number;
  /** Addresses that were asked for while it is recorded, as a probe that checks a hint does. */
  readonly checked?: readonly string[];
  /** How much of it is recorded at most; 64 KiB unless given. */
  readonly captureBytes?: number;
  /** Server identifiers of DHCP servers that the operator has declared. */
  readonly dhcpServers?: readonly string[];
  /** Addresses of IPv6 routers that the operator has declared. */
  readonly routers?: readonly string[];
  /** A daemon of one of the LAN's hosts that is stopped while it runs. */
  readonly stops?: { readonly host: string; readonly daemon: string };
  readonly hosts: (variant: Variant) => readonly ScenarioHost[];
}

const CAPTURE_BYTES = 64 * 1024;

/** How large the capture of a scenario may be that is committed with it. */
export function captureBytesOf({ captureBytes = CAPTURE_BYTES }: Pick<Scenario, "captureBytes">): number {
  return captureBytes;
}

/** Last octets of the LAN that neither a host of the lab nor a lease has. */
const FREE_OCTETS = [[22, 29], [33, 39], [41, 49], [60, 86], [95, 99], [212, 239], [242, 253]]
  .flatMap(([first = 0, last = 0]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));

/** How many addresses and MACs a variant has. */
const WIDTH = 3;

/**
 * What a run has for itself.
 * @param sequence Counts all runs on the LAN: others have other addresses, until all have been used.
 * @param index Counts runs of the scenario.
 */
export function createVariant(sequence: number, index: number, isRecorded = false): Variant {
  const hex = (value: number) => (value & 0xff).toString(16).padStart(2, "0");
  return {
    index, isRecorded,
    ip: (number) => `10.77.0.${FREE_OCTETS[(sequence * WIDTH + number) % FREE_OCTETS.length]}`,
    mac: (number) => `2c:cf:67:${hex(0xa0 + (sequence >> 8))}:${hex(sequence)}:${hex(number)}`,
  };
}
