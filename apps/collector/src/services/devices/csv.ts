import type { Device } from "@lanthorn/contract";
import type { CsvColumns } from "../../gateway/csv/csv.ts";

/** The export of devices. Lists are joined with spaces, tags with semicolons. */
export const DEVICE_COLUMNS: CsvColumns<Device> = {
  id: (device) => device.id,
  ip: (device) => device.ip,
  mac: (device) => device.mac,
  hostname: (device) => device.hostname,
  vendor: (device) => device.vendor,
  os_guess: (device) => device.os_guess,
  device_type: (device) => device.device_type,
  is_online: (device) => String(device.is_online),
  presence_state: (device) => device.presence_state,
  first_seen: (device) => device.first_seen ?? "",
  last_seen: (device) => device.last_seen ?? "",
  site_id: (device) => device.site_id,
  open_ports: (device) => device.open_ports.join(" "),
  tags: (device) => device.tags.join(";"),
};
