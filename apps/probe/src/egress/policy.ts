import { type AddressPrefix, parseIp } from "@lanthorn/packets";
import type * as z from "zod";
import { ProbeError } from "../errors.ts";
import { createExclusions, type Exclusions, parsePrefixes } from "./exclusions.ts";
import { createReach, type Reach } from "./reach.ts";
import type { egressPart } from "./settings.ts";

/** What the probe's own file says; `configure` can only narrow it. */
export interface EgressSettings {
  readonly sweep: {
    readonly enabled: boolean;
    /** From the end of the schedule's last sweep begun to the next; a sweep that takes longer delays it. */
    readonly intervalSeconds: number;
    /** Everything that discovery sends, sweeps and checks together. `gentle` is 12. */
    readonly packetsPerSecond: number;
    /** Parts of the own subnets, `10.1.2.0/24`; empty for all of them. A subnet larger than /16 is swept in such parts only. */
    readonly networks: readonly string[];
    /** Networks behind routers to watch; none unless given. */
    readonly routed?: readonly string[];
  };
  /** Networks behind routers that a scan may be asked for, beside the own subnets and those that are watched; none unless given. */
  readonly scanNetworks?: readonly string[];
  /** Frames a second that a scan at somebody's word may reach, where nothing is lost. */
  readonly scanPacketsPerSecond: number;
  /** Addresses and prefixes of both families that nothing is ever sent to. */
  readonly excluded: readonly string[];
}

/** The part of the collector's configuration that concerns what is sent. */
export type Narrowing = z.infer<typeof egressPart>;

/**
 * What the probe may send now, and how fast: the settings, narrowed. Everything that sends asks it: sweeps and checks, scans, nmap, SNMP,
 * questions to name servers. Ports of printers are `isPrintPort` of packet-io, which nothing passes.
 */
export interface EgressPolicy {
  readonly sweepEnabled: boolean;
  readonly sweepIntervalMs: number;
  readonly packetsPerSecond: number;
  readonly scanPacketsPerSecond: number;
  /** Whether the sweep is held so low that a switch must be guarding its ports: then no scan searches hosts faster either. */
  readonly isGentle: boolean;
  /** Whether the probe's own file lets it ask for hosts at all, by schedule or at somebody's word. */
  readonly mayAsk: boolean;
  readonly networks: readonly AddressPrefix[];
  /** Behind routers, to be watched. */
  readonly routed: readonly AddressPrefix[];
  readonly exclusions: Exclusions;
  /** Whether nothing may be sent to an address; also where the text is none. */
  excludes(ip: string): boolean;
  /** Where a scan may be asked for. */
  readonly reach: Reach;
  /** @returns What is wrong with it, in which case nothing changes; else null. */
  narrow(narrowing: Narrowing | null): string | null;
  /** Holds everything that is sent to a rate, for as long as a scan needs it; infinity lets go. */
  hold(packetsPerSecond: number): void;
}

/** Cisco's Dynamic ARP Inspection shuts an untrusted port above so many ARP packets a second. */
const GUARDED_PACKETS_PER_SECOND = 15;

/** @throws ProbeError `config-invalid` for text that is no address or prefix. */
export function createEgressPolicy(settings: EgressSettings): EgressPolicy {
  const networks = parseOrThrow("sweep.networks", settings.sweep.networks);
  const routed = parseOrThrow("sweep.routed", settings.sweep.routed ?? []);
  const beyond = [...routed, ...parseOrThrow("scan.networks", settings.scanNetworks ?? [])];
  const ownExcluded = parseOrThrow("excluded", settings.excluded);
  let exclusions = createExclusions(ownExcluded);
  let narrowed: Narrowing["sweep"] | null = null;
  let held = Number.POSITIVE_INFINITY;
  const { sweep } = settings;
  return {
    networks,
    routed,
    reach: createReach({ networks, beyond }),
    scanPacketsPerSecond: settings.scanPacketsPerSecond,
    mayAsk: sweep.enabled,
    get isGentle() {
      return Math.min(sweep.packetsPerSecond, narrowed?.packets_per_second ?? Number.POSITIVE_INFINITY) < GUARDED_PACKETS_PER_SECOND;
    },
    hold(packetsPerSecond) {
      held = packetsPerSecond;
    },
    get sweepEnabled() {
      return sweep.enabled && (narrowed?.enabled ?? true);
    },
    get sweepIntervalMs() {
      return Math.max(sweep.intervalSeconds, narrowed?.interval_seconds ?? 0) * 1000;
    },
    get packetsPerSecond() {
      return Math.min(sweep.packetsPerSecond, narrowed?.packets_per_second ?? Number.POSITIVE_INFINITY, held);
    },
    get exclusions() {
      return exclusions;
    },
    excludes(ip) {
      const bytes = parseIp(ip);
      return bytes === null || exclusions.holds(bytes);
    },
    narrow(narrowing) {
      const excluded = parsePrefixes(narrowing?.excluded ?? []);
      // With an exclusion that cannot be read, no other wish is safe to follow either.
      if ("wrong" in excluded) return `excluded: ${JSON.stringify(excluded.wrong)} is neither an address nor a prefix`;
      exclusions = createExclusions([...ownExcluded, ...excluded.prefixes]);
      narrowed = narrowing?.sweep ?? null;
      return null;
    },
  };
}

function parseOrThrow(key: string, texts: readonly string[]): readonly AddressPrefix[] {
  const parsed = parsePrefixes(texts);
  if ("wrong" in parsed)
    throw new ProbeError("config-invalid", `${key}: ${JSON.stringify(parsed.wrong)} is neither an address nor a prefix`);
  return parsed.prefixes;
}
