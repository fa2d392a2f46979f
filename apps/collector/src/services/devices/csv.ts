import type { Device } from "@lanthorn/contract";
import { formatCsvLine } from "../../gateway/csv.ts";

/** A column of the export and how a device fills it. Lists are joined with spaces, tags with semicolons. */
const COLUMNS: Readonly<Record<string, (device: Device) => string>> = {
  id: (device) => device.id,
  ip: (device) => device.ip,
  mac: (device) => device.mac,
  hostname: (device) => device.hostname,
  vendor: (device) => device.vendor,
  os_guess: (device) => device.os_guess,
  device_type: (device) => device.device_type,
  is_online: (device) => String(device.is_online),
  presence_state: (device) => device.presence_state,
  first_seen: (device) => device.first_seen,
  last_seen: (device) => device.last_seen,
  site_id: (device) => device.site_id,
  open_ports: (device) => device.open_ports.join(" "),
  tags: (device) => device.tags.join(";"),
};

/** The first line, with its end. */
export const CSV_HEADER = formatCsvLine(Object.keys(COLUMNS));

/** One device as a line of CSV, with its end. */
export function toCsvLine(device: Device): string {
  return formatCsvLine(Object.values(COLUMNS).map((read) => read(device)));
}
