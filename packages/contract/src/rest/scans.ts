import * as z from "zod";
import { SCAN_REMARKS } from "../events/scans.ts";
import { SCAN_PROFILE_NAMES } from "../uplink/scan-profiles.ts";
import { Id, Instant, IpNetwork, PortCounts, PortProtocol, PortState } from "../values.ts";
import { listQuery, PageQuery, PeriodQuery } from "./envelopes.ts";

const SCAN_STATUSES = ["queued", "running", "completed", "failed", "cancelled"] as const;

/** A scan as it was ordered, and how far it is. */
export const Scan = z.object({
  id: Id.describe("The scan's id."),
  tenant_id: Id.describe("The tenant that it belongs to."),
  site_id: Id.describe("The site that is scanned."),
  probe_id: Id.describe("The probe that scans."),
  target: z.string().describe("The network that is scanned, as `10.0.0.0/24`."),
  profile: z.enum(SCAN_PROFILE_NAMES).describe("How thorough the scan is. `GET /scans/profiles` lists what each profile does."),
  status: z.enum(SCAN_STATUSES).describe("`queued` until the probe answers, at most half a minute."),
  progress: z.number().min(0).max(1).describe("How far it is, 0 to 1."),
  requested_by: z.string().describe("Name of the user who started it."),
  created_at: Instant.describe("When it was ordered."),
  started_at: Instant.nullable().describe("When the probe began. Null before that."),
  finished_at: Instant.nullable().describe("When it ended. Null before that."),
  hosts_total: z.int().min(0).describe("Addresses in the target that are scanned."),
  hosts_up: z.int().min(0).describe("Hosts that answered so far."),
  ports_open: z.int().min(0).describe("Open ports found so far."),
  error: z.string().nullable().describe("Why it failed. Null where it did not."),
  remarks: z.array(z.object({
    code: z.enum(SCAN_REMARKS).describe("What the device does, as `proxy-arp` or `tarpit`."),
    message: z.string().describe("A description as text."),
    ip: z.string().describe("The device's address. Empty where it is not one device's."),
    mac: z.string().describe("The device's MAC address. Empty where unknown."),
    addresses: z.int().describe("How many addresses or ports it answers for."),
  })).describe("Devices that answer for hosts or ports that do not exist: a router with proxy ARP, a firewall, a tarpit. At most 100."),
});
export type Scan = z.infer<typeof Scan>;

/** An order to scan. One probe of the site executes it; `SERVICE_UNAVAILABLE` while none is online. */
export const ScanStart = z.strictObject({
  target: IpNetwork.describe(
    "An address or a network, at most a /16 (IPv6: a /112). It must be among the probe's own subnets or the site's `scan_networks`. "
      + "In an IPv6 network of a probe's own link, up to a /64 or `fe80::/10`, only known hosts are scanned.",
  ),
  profile: z.enum(SCAN_PROFILE_NAMES).describe("How thorough the scan is. `GET /scans/profiles` lists what each profile does."),
  site_id: Id.optional().describe("The site whose probe scans. May be left out where the tenant has one site."),
});
export type ScanStart = z.infer<typeof ScanStart>;

/** Newest first. `since` and `until` compare the time of the order. `status` takes several values with commas. */
export const ScansQuery = PageQuery.extend(PeriodQuery.shape).extend({
  site_id: Id.optional().describe("Scans of this site."),
  status: listQuery(SCAN_STATUSES).optional().describe("Scans in these states, with commas between them."),
  profile: z.enum(SCAN_PROFILE_NAMES).optional().describe("Scans with this profile."),
});
export type ScansQuery = z.infer<typeof ScansQuery>;

/** A host that answered a scan, with what the scan saw of its ports. */
export const ScanHost = z.object({
  ip: z.string().describe("The address that answered."),
  mac: z.string().describe("Its MAC address. Empty behind a router."),
  device_id: Id.nullable().describe("The device that has this MAC or address now. Null where there is none."),
  hostname: z.string().describe("That device's name. Empty while unknown."),
  seen_at: Instant.describe("When it answered."),
  port_counts: z.object({
    tcp: PortCounts.describe("Of TCP."), udp: PortCounts.describe("Of UDP."),
  }).nullable().describe("How many of its ports are in each state. Null where none were scanned."),
  ports: z.array(z.object({
    port: z.int().describe("The port's number."),
    protocol: PortProtocol.describe("`tcp` or `udp`."),
    state: PortState.describe("The port's state in nmap's words."),
    service: z.string().describe("What answers there, as `ssh`. Empty while unknown."),
    version: z.string().describe("The software and its version. Empty while unknown."),
    banner: z.string().describe("What the service says first. Empty while unknown."),
  })).describe("Its ports as this scan saw them."),
});
export type ScanHost = z.infer<typeof ScanHost>;
