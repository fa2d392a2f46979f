import { type Kysely, type Selectable, sql } from "kysely";
import { selectIn } from "../../../db/query/select-in.ts";
import type { Schema } from "../../../db/schema.ts";

type From = Kysely<Schema>;

const DEVICE_COLUMNS = [
  "id", "tenant_id", "site_id", "ip", "mac", "hostname", "device_type", "presence_state", "first_seen", "last_seen", "tags", "open_ports",
] as const;

/** A device as far as its baseline goes. `tags` and `open_ports` are JSON lists. */
export type DeviceRow = Pick<Selectable<Schema["devices"]>, (typeof DEVICE_COLUMNS)[number]>;

/** These devices. */
export function devicesOf(reads: From, deviceIds: readonly string[]): Promise<readonly DeviceRow[]> {
  return selectIn(deviceIds, (list) => reads.selectFrom("devices").select(DEVICE_COLUMNS).where("id", "in", list).execute());
}

/** How long the lists of open ports of these devices are, in characters. */
export async function portTextsOf(reads: From, deviceIds: readonly string[]): Promise<readonly (readonly [id: string, characters: number])[]> {
  const rows = await selectIn(deviceIds, (list) => reads.selectFrom("devices").select(["id", sql<number>`length(open_ports)`.as("size")])
    .where("id", "in", list).execute());
  return rows.map(({ id, size }) => [id, size]);
}

/** A port of a device. `banner` is empty but for SSH, where it has the host key. */
export type PortRow = Pick<Selectable<Schema["ports"]>, "device_id" | "port" | "protocol" | "state" | "service" | "version" | "banner" | "last_scanned">;

/** The ports of these devices, the newest of one port last. */
export function portsOf(reads: From, deviceIds: readonly string[]): Promise<readonly PortRow[]> {
  return selectIn(deviceIds, (list) => reads.selectFrom("ports")
    .select(["device_id", "port", "protocol", "state", "service", "version", "last_scanned"])
    .select(sql<string>`case when service = 'ssh' then banner else '' end`.as("banner"))
    .where("device_id", "in", list).execute());
}

/** When a scan looked at a device's ports, and for which. `tcp` and `udp` are `PortRanges`. */
export interface LookRow {
  readonly device_id: string;
  readonly scope_id: string;
  readonly looked_at: string;
  readonly profile: string | null;
}

/** The looks of scans at these devices, of which the list of ports is known. */
export function looksOf(reads: From, deviceIds: readonly string[]): Promise<readonly LookRow[]> {
  return selectIn(deviceIds, (list) => reads.selectFrom("port_looks").leftJoin("scans", "scans.id", "port_looks.scan_id")
    .select(["port_looks.device_id", "port_looks.scope_id", "port_looks.looked_at", "scans.profile"]).where("device_id", "in", list).execute());
}

/** Lists of ports, as `PortRanges`. */
export function scopesOf(reads: From, ids: readonly string[]): Promise<readonly { readonly id: string; readonly tcp: string; readonly udp: string }[]> {
  return selectIn(ids, (list) => reads.selectFrom("port_scopes").select(["id", "tcp", "udp"]).where("id", "in", list).execute());
}

/** The TLS certificates that these devices have shown. */
export function certificatesOf(reads: From, deviceIds: readonly string[]): Promise<
  readonly { readonly device_id: string; readonly value: string; readonly seen_at: string }[]
> {
  return selectIn(deviceIds, (list) => reads.selectFrom("evidence").select(["device_id", "value", "seen_at"]).where("device_id", "in", list)
    .where("field", "=", "tls_certificate").execute());
}

/** Devices of a site that had one of these addresses and are not there any more. */
export function absentAt(reads: From, siteId: string, ips: readonly string[]): Promise<
  readonly { readonly id: string; readonly ip: string; readonly mac: string; readonly hostname: string }[]
> {
  return selectIn(ips, (list) => reads.selectFrom("addresses").innerJoin("devices", "devices.id", "addresses.device_id")
    .select(["devices.id", "addresses.ip", "devices.mac", "devices.hostname"]).where("addresses.site_id", "=", siteId)
    .where("addresses.ip", "in", list).where("devices.presence_state", "=", "offline").execute());
}

/** Ids of devices of all tenants after `after`, in their order. */
export function devicesAfter(reads: From, after: string, limit: number): Promise<
  readonly { readonly id: string; readonly tenant_id: string; readonly site_id: string; readonly baseline_id: string | null }[]
> {
  return reads.selectFrom("devices").leftJoin("baselines", "baselines.device_id", "devices.id")
    .select(["devices.id", "devices.tenant_id", "devices.site_id", "baselines.id as baseline_id"]).where("devices.id", ">", after)
    .orderBy("devices.id").limit(limit).execute();
}

/** Sites of all tenants that have a probe and no baseline. */
export function sitesWithout(reads: From): Promise<readonly { readonly id: string; readonly tenant_id: string }[]> {
  return reads.selectFrom("sites").leftJoin("baselines", (join) => join.onRef("baselines.site_id", "=", "sites.id").on("baselines.scope", "=", ""))
    .select(["sites.id", "sites.tenant_id"]).where("baselines.id", "is", null)
    .where((eb) => eb.exists(eb.selectFrom("probes").select("probes.id").whereRef("probes.site_id", "=", "sites.id"))).limit(1000).execute();
}

/** Whom the open alerts of a site's guards are about: addresses, MACs and devices. */
export async function roguesOf(reads: From, tenantId: string): Promise<
  readonly { readonly site_id: string | null; readonly device_id: string | null; readonly device_ip: string; readonly subject: string }[]
> {
  return reads.selectFrom("alerts").select(["site_id", "device_id", "device_ip", "subject"]).where("tenant_id", "=", tenantId)
    .where("status", "in", ["open", "acknowledged"]).where("source", "=", "rogue").orderBy("last_seen", "desc").limit(1000).execute();
}
