import * as z from "zod";
import { Id, Instant, IpAddress, Port, Severity } from "../values.ts";

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

/** A capture file is complete and may be downloaded. */
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

/** A known vulnerability applies to a service of a device. */
export const VulnFound = z.object({
  cve_id: z.string().regex(/^CVE-\d{4}-\d{4,}$/),
  ip: IpAddress,
  severity: Severity,
  cvss_score: z.number().min(0).max(10).nullable(),
  known_exploited: z.boolean(),
  matched_service: z.string().max(128),
  matched_port: Port.nullable(),
  cpe: z.string().max(512),
});
