import type { Query } from "@lanthorn/client";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";

/** Filters as the API has them; every page is read. */
export async function listDevices({ rest }: Connection, filters: Query): Promise<Answer> {
  const devices = await collect(rest.listDevices, filters);
  return {
    json: devices,
    table: {
      heading: ["STATE", "IP", "MAC", "HOSTNAME", "VENDOR", "TYPE", "OPEN PORTS", "LAST SEEN"],
      rows: devices.map((device) => [
        device.presence_state, device.ip, device.mac, device.hostname || "-", device.vendor || "-", device.device_type,
        device.open_ports.join(",") || "-", device.last_seen,
      ]),
    },
  };
}
