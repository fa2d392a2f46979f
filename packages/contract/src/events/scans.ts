import * as z from "zod";
import { Id, IpAddress, MacAddress, PortCounts } from "../values.ts";
import { PortRanges } from "../port-ranges.ts";
import { ErrorEvent } from "./operations.ts";

const Scan = z.object({ scan_id: Id, target: z.string().max(255), profile: z.string().max(32) });

const counts = { hosts_total: z.int().min(0), hosts_up: z.int().min(0), ports_open: z.int().min(0) };

/** The probe began a scan. `hosts_total`: addresses that it will ask. `ports`: which ports of each host; older probes do not report them. */
export const ScanStarted = Scan.extend({
  hosts_total: counts.hosts_total, ports: z.object({ tcp: PortRanges, udp: PortRanges }).optional(),
});

/** How far a scan is, from 0 to 1; at least once a minute while it runs. */
export const ScanProgress = Scan.extend({ progress: z.number().min(0).max(1), ...counts });

/**
 * Hosts that answered a scan, each once, and again with `port_counts` when their ports have been asked. Open ports are `port_found` events
 * with the scan's id.
 */
export const ScanResults = z.object({
  scan_id: Id,
  hosts: z.array(z.object({
    ip: IpAddress, mac: z.union([MacAddress, z.literal("")]), port_counts: z.object({ tcp: PortCounts, udp: PortCounts }).optional(),
  })).min(1).max(256),
});

/** What looks like many hosts or ports but is not; and, added by the collector, results that the scan cannot have found. */
export const SCAN_REMARKS = [
  "proxy-arp", "answers-for-network", "answers-everything", "tarpit", "outside-target", "too-many-results",
] as const;
/** One of `SCAN_REMARKS`. */
export type ScanRemarkCode = (typeof SCAN_REMARKS)[number];

/** A scan met a device that answers for hosts or ports that do not exist. It is reported as such, not as hosts or ports. */
export const ScanRemark = ErrorEvent.extend({
  code: z.enum(SCAN_REMARKS),
  scan_id: Id,
  /** Empty where it is not one device's. */
  ip: z.union([IpAddress, z.literal("")]),
  mac: z.union([MacAddress, z.literal("")]),
  /** How many it answers for. */
  addresses: z.int().min(0),
});

const ended = { ...counts, duration_seconds: z.number().min(0) };

/** The scan ran to its end. Results that come late may follow. */
export const ScanComplete = Scan.extend(ended);

/** Somebody cancelled the scan; what it found until then is reported. */
export const ScanCancelled = Scan.extend(ended);

/** The scan could not go on. What it found until then is reported. */
export const ScanFailed = Scan.extend({ reason: z.string().max(1024) });
