import * as z from "zod";
import { SCAN_REMARKS } from "../events/scans.ts";
import { SCAN_PROFILE_NAMES } from "../uplink/scan-profiles.ts";
import { Id, Instant, IpNetwork, PortCounts, PortProtocol, PortState } from "../values.ts";
import { listQuery, PageQuery, PeriodQuery } from "./envelopes.ts";

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
