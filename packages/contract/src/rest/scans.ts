import { z } from "zod";
import { SCAN_REMARKS } from "../events/scans.ts";
import { Id, Instant, IpNetwork, PortCounts, PortProtocol, PortState } from "../values.ts";
import { listQuery, PageQuery, PeriodQuery } from "./envelopes.ts";

/** What a profile does. `packets_per_second` is a bound of its own; null for the probe's own rate. */
export const ScanProfile = z.object({
  name: z.string(),
  description: z.string(),
  tcp_ports: z.int(),
  udp_ports: z.int(),
  banners: z.boolean(),
  os: z.boolean(),
  packets_per_second: z.int().nullable(),
});
export type ScanProfile = z.infer<typeof ScanProfile>;

const hostsOnly = { tcp_ports: 0, udp_ports: 0, banners: false, os: false, packets_per_second: null };

/**
 * The profiles by name. Below 15 ARP packets a second, Dynamic ARP Inspection leaves the probe's switch port open: `gentle`
 * stays under it with some room.
 */
export const SCAN_PROFILES = {
  discovery: { description: "who is there", ...hostsOnly },
  gentle: { description: "who is there, slowly enough for switches that inspect ARP", ...hostsOnly, packets_per_second: 12 },
  quick: { description: "the 100 most common TCP ports, with banners", ...hostsOnly, tcp_ports: 100, banners: true },
  standard: {
    description: "1000 TCP and 20 UDP ports, banners, operating system", ...hostsOnly, tcp_ports: 1000, udp_ports: 20, banners: true,
    os: true,
  },
  full: { description: "every TCP port, with banners", ...hostsOnly, tcp_ports: 65_535, banners: true },
  deep: { description: "nmap with versions, operating system and safe scripts", ...hostsOnly, tcp_ports: 1000, banners: true, os: true },
} as const satisfies Record<string, Omit<ScanProfile, "name">>;
export type ScanProfileName = keyof typeof SCAN_PROFILES;
export const SCAN_PROFILE_NAMES = Object.keys(SCAN_PROFILES) as [ScanProfileName, ...ScanProfileName[]];

export const SCAN_STATUSES = ["queued", "running", "completed", "failed", "cancelled"] as const;

export const Scan = z.object({
  id: Id,
  tenant_id: Id,
  site_id: Id,
  probe_id: Id,
  /** A network, `10.0.0.0/24`. */
  target: z.string(),
  profile: z.enum(SCAN_PROFILE_NAMES),
  /** `queued` until the probe has answered, which takes it half a minute at most. */
  status: z.enum(SCAN_STATUSES),
  progress: z.number().min(0).max(1),
  /** Who asked for it, by name. */
  requested_by: z.string(),
  created_at: Instant,
  started_at: Instant.nullable(),
  finished_at: Instant.nullable(),
  hosts_total: z.int().min(0),
  hosts_up: z.int().min(0),
  ports_open: z.int().min(0),
  /** Why it failed. */
  error: z.string().nullable(),
  /** Devices that answer for hosts or ports that are not there: a router with proxy ARP, a firewall, a tarpit. At most 100. */
  remarks: z.array(z.object({ code: z.enum(SCAN_REMARKS), message: z.string(), ip: z.string(), mac: z.string(), addresses: z.int() })),
});
export type Scan = z.infer<typeof Scan>;

export const ScanStart = z.strictObject({
  /**
   * At most a /16, IPv6 at most a /112; an address alone is a network of one. Of an IPv6 network of a probe's own link, up to a /64 or
   * `fe80::/10`, those are asked that have shown themselves.
   */
  target: IpNetwork,
  profile: z.enum(SCAN_PROFILE_NAMES),
  /** May be left out where the tenant has one site. */
  site_id: Id.optional(),
});
export type ScanStart = z.infer<typeof ScanStart>;

/** Newest first. `since` and `until` are about when it was asked for. `status` takes several values with commas. */
export const ScansQuery = PageQuery.extend(PeriodQuery.shape).extend({
  site_id: Id.optional(),
  status: listQuery(SCAN_STATUSES).optional(),
  profile: z.enum(SCAN_PROFILE_NAMES).optional(),
});
export type ScansQuery = z.infer<typeof ScansQuery>;

/** A host that answered a scan, with what the scan saw of its ports. */
export const ScanHost = z.object({
  ip: z.string(),
  mac: z.string(),
  /** The device that has this MAC or address now; null where there is none. */
  device_id: Id.nullable(),
  hostname: z.string(),
  seen_at: Instant,
  /** How many of its ports were asked, and their states; null where none were. */
  port_counts: z.object({ tcp: PortCounts, udp: PortCounts }).nullable(),
  ports: z.array(z.object({
    port: z.int(), protocol: PortProtocol, state: PortState, service: z.string(), version: z.string(), banner: z.string(),
  })),
});
export type ScanHost = z.infer<typeof ScanHost>;
