import type { Device, DeviceFacets, DeviceProfile, DeviceUpdate, PortRecord } from "@lanthorn/contract";
import type { Selectable } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { toSoftware } from "../../software/columns.ts";
import { readVerdicts } from "../../identity/verdicts.ts";
import type { DeviceRow } from "./store/pages.ts";
import type { DeviceCounts } from "./store/facets.ts";
import type { DeviceParts } from "./store/devices.ts";

/** The fields that a person may set, each a column. */
export const EDITABLE_FIELDS = [
  "ip", "mac", "hostname", "vendor", "os_guess", "device_type", "tags",
] as const satisfies readonly (keyof DeviceUpdate)[];
/** A column that a person can set and so lock against discovery. `tags` is stored as JSON text, the others as they are. */
export type EditableField = (typeof EDITABLE_FIELDS)[number];

/** A device's row as the API shows it. */
export function toDevice(row: DeviceRow): Device {
  return {
    id: row.id,
    ip: row.ip,
    mac: row.mac,
    hostname: row.hostname,
    vendor: row.vendor,
    os_guess: row.os_guess,
    device_type: row.device_type as Device["device_type"],
    is_online: row.is_online === 1,
    presence_state: row.presence_state as Device["presence_state"],
    first_seen: row.first_seen || null,
    last_seen: row.last_seen || null,
    site_id: row.site_id,
    open_ports: JSON.parse(row.open_ports) as number[],
    tags: JSON.parse(row.tags) as string[],
  };
}

/** Counts of columns under the names of the list's filters. */
export function toFacets({ total, site_id, device_type, presence_state, vendor, os_guess, tags, open_ports }: DeviceCounts): DeviceFacets {
  return {
    total, site_id: [...site_id], device_type: [...device_type], presence_state: [...presence_state], vendor: [...vendor],
    os: [...os_guess], tag: [...tags], open_port: [...open_ports],
  };
}

/** A port's row as the API shows it. Protocol and state were checked when the row was written. */
export function toPort(row: Selectable<Schema["ports"]>): PortRecord {
  const { port, protocol, state, service, version, banner, last_scanned } = row;
  const [itsProtocol, itsState] = [protocol as PortRecord["protocol"], state as PortRecord["state"]];
  return { port, protocol: itsProtocol, state: itsState, service, version, banner, software: toSoftware(row), last_scanned };
}

/** Rows that say the same of the same software, as one, with all their sources. */
function toDeviceSoftware(rows: readonly Selectable<Schema["device_software"]>[]): DeviceProfile["software"] {
  const byText = new Map<string, DeviceProfile["software"][number]>();
  for (const row of rows) {
    const software = toSoftware(row);
    if (!software) continue;
    const { confidence, ...texts } = software;
    const { source, first_seen: first, last_seen: last } = row;
    const known = byText.get(JSON.stringify(texts));
    byText.set(JSON.stringify(texts), {
      ...texts, confidence: Math.max(confidence, known?.confidence ?? 0), sources: [...known?.sources ?? [], source],
      first_seen: known && known.first_seen < first ? known.first_seen : first, last_seen: known && known.last_seen > last ? known.last_seen : last,
    });
  }
  return [...byText.values()].toSorted((a, b) => b.confidence - a.confidence);
}

/** One change of a device as its history shows it. `before` and `after` are the column's text, for `tags` JSON. */
export function toChange({ at, field, before, after, source }: Selectable<Schema["device_changes"]>): DeviceProfile["history"][number] {
  return { at, field, before, after, source };
}

/** A device with everything that is known of it. An address without a MAC belongs to an interface without one. */
export function toProfile(row: DeviceRow, parts: DeviceParts, { neighbors, cves, counted }: {
  readonly neighbors: DeviceProfile["neighbors"];
  readonly cves: readonly DeviceProfile["cves"][number][];
  /** Of a service, as `tcp/22`, how many CVEs count. */
  readonly counted: ReadonlyMap<string, number>;
}): DeviceProfile {
  const vendors = new Map(parts.interfaces.map(({ mac, vendor }) => [mac, vendor]));
  for (const { mac } of parts.addresses) if (!vendors.has(mac)) vendors.set(mac, "");
  const evidence: Record<string, DeviceProfile["evidence"][string]> = {};
  for (const { field, value, source, confidence, seen_at } of parts.evidence) {
    (evidence[field] ??= []).push({ value, source, confidence, seen_at });
  }
  const ports = parts.ports.map(toPort);
  return {
    ...toDevice(row),
    interfaces: [...vendors].map(([mac, vendor]) => ({
      mac,
      vendor,
      addresses: parts.addresses.filter((address) => address.mac === mac)
        .map(({ ip, first_seen: first, last_seen: last, current }) => ({
          ip, first_seen: first || null, last_seen: last || null, current: current === 1,
        })),
    })),
    ports,
    services: ports.filter(({ state, service }) => state === "open" && service !== "")
      .map(({ port, protocol, service, version, software }) => ({ port, protocol, name: service, version, software, open_cves: counted.get(`${protocol}/${port}`) ?? 0 })),
    software: toDeviceSoftware(parts.software),
    cves: [...cves],
    neighbors,
    history: parts.changes.map(toChange),
    evidence,
    verdicts: readVerdicts(row.verdicts) as DeviceProfile["verdicts"],
    locked_fields: JSON.parse(row.locked_fields) as string[],
    merges: parts.merges.map(({ id, merged_id, at, by_type, by_id, by_name, reasons }) => ({
      id, merged_id, at, by: { type: by_type, id: by_id, name: by_name },
      reasons: JSON.parse(reasons) as DeviceProfile["merges"][number]["reasons"],
    })),
  };
}
