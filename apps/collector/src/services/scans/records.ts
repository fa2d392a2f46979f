import type { Scan, ScanHost } from "@lanthorn/contract";
import type { ScanRow } from "./reaction-store.ts";
import type { DeviceNames, HostRow, PortRow } from "./store.ts";

/** A scan's row as the API shows it. */
export function toScan(row: ScanRow): Scan {
  return {
    id: row.id, tenant_id: row.tenant_id, site_id: row.site_id, probe_id: row.probe_id, target: row.target,
    profile: row.profile as Scan["profile"], status: row.status as Scan["status"], progress: row.progress,
    requested_by: row.requested_by, created_at: row.created_at, started_at: row.started_at,
    finished_at: row.finished_at, hosts_total: row.hosts_total, hosts_up: row.hosts_up, ports_open: row.ports_open, error: row.error,
    remarks: JSON.parse(row.remarks) as Scan["remarks"],
  };
}

/** A host of a scan's results. Its device is found by MAC, or by address for a host without one; without a device `device_id` is null. */
export function toHost({ ip, mac, seen_at, port_counts: counts }: HostRow, ports: readonly PortRow[], names: DeviceNames): ScanHost {
  const device = mac === "" ? names.byIp.get(ip) : names.byMac.get(mac);
  return {
    ip, mac, seen_at, device_id: device?.id ?? null, hostname: device?.hostname ?? "",
    port_counts: counts === null ? null : (JSON.parse(counts) as ScanHost["port_counts"]),
    ports: ports.map(({ port, protocol, state, service, version, banner }) =>
      ({ port, protocol, state, service, version, banner }) as ScanHost["ports"][number]),
  };
}
