import * as z from "zod";
import { MAX_PCAP_FILTER, MAX_PCAP_SNAP_LENGTH, PcapCounters, PcapSummary } from "../uplink/captures.ts";
import { Sha256 } from "../uplink/files.ts";
import { Id, Instant, IpAddress, MacAddress, Port, Severity } from "../values.ts";

/** A network device's running configuration has a new version. */
export const ConfigChanged = z.object({
  /** Empty where the device has no address. */
  ip: z.union([IpAddress, z.literal("")]),
  hostname: z.string().max(255),
  previous_version: z.int().min(0),
  version: z.int().min(1),
  lines_added: z.int().min(0),
  lines_removed: z.int().min(0),
  changed_by: z.string().max(255),
});

/** Why a probe captures: an alert, somebody's request, or somebody's export of what was recorded continuously. */
export const PCAP_TRIGGERS = ["alert", "request", "export"] as const;
/**
 * How far a capture is at the probe. `cut`: it lacks what should be at its end, as after a crash. `removed`: it was whole or cut, and the
 * probe has removed its file by itself, before it was sent; `detail` says why.
 */
export const PCAP_STATES = ["recording", "whole", "cut", "failed", "removed"] as const;

/** How a capture is, when it begins, when it ends, and when more is known of it: what a probe says of its file before the file is there. */
export const PcapRecorded = z.object({
  pcap_id: Id,
  trigger: z.enum(PCAP_TRIGGERS),
  state: z.enum(PCAP_STATES),
  detail: z.string().max(512),
  file_name: z.string().max(255),
  size_bytes: z.int().min(0),
  /** Empty while the file is not whole. */
  sha256: z.union([Sha256, z.literal("")]),
  packets: z.int().min(0),
  started_at: Instant.nullable(),
  finished_at: Instant.nullable(),
  interfaces: z.array(z.string().max(64)).max(16),
  filter: z.string().max(MAX_PCAP_FILTER),
  snap_length: z.int().min(0).max(MAX_PCAP_SNAP_LENGTH),
  headers_only: z.boolean(),
  counters: PcapCounters,
  alert_ids: z.array(Id).max(64),
  macs: z.array(MacAddress).max(64),
  ips: z.array(IpAddress).max(64),
  summary: PcapSummary.nullable(),
});
export type PcapRecorded = z.infer<typeof PcapRecorded>;

/** A capture file is whole at the collector and may be downloaded. */
export const PcapReady = z.object({
  pcap_id: Id,
  file_name: z.string().max(255),
  size_bytes: z.int().min(0),
  packets: z.int().min(0),
  started_at: Instant,
  finished_at: Instant,
  filter: z.string().max(1024),
  reason: z.string().max(255),
});

const MatchedCve = z.object({
  cve_id: z.string().regex(/^CVE-\d{4}-\d{4,}$/),
  severity: Severity,
  cvss_score: z.number().min(0).max(10).nullable(),
  known_exploited: z.boolean(),
  matched_service: z.string().max(128),
  matched_port: Port.nullable(),
  cpe: z.string().max(512),
  /** Chance of exploitation in the next 30 days, 0 to 1; null where it is not rated. */
  epss: z.number().min(0).max(1).nullable().optional(),
  /** The affected versions, as `< 9.8`. */
  range: z.string().max(255).optional(),
});

/** A known vulnerability applies to a service of a device. */
export const VulnFound = MatchedCve.extend({
  /** Empty where the device has no address. */
  ip: z.union([IpAddress, z.literal("")]),
  /** As `openbsd:openssh`. */
  product: z.string().max(255).optional(),
  /** How many more were found of the product at once, which have no event of their own. */
  others: z.int().min(0).optional(),
});

/** Which known vulnerabilities are open in a product of a device, when that has changed. */
export const VulnState = z.object({
  /** `cleared`: none is open any more. */
  state: z.enum(["open", "cleared"]),
  product: z.string().max(255),
  /** Empty where the device has no address. */
  ip: z.union([IpAddress, z.literal("")]),
  severity: Severity,
  count: z.int().min(0),
  /** How many of them are known to be exploited. */
  known_exploited: z.int().min(0),
  /** The gravest. */
  cves: z.array(MatchedCve).max(10),
  mitre_techniques: z.array(z.string().max(16)).max(16),
});
