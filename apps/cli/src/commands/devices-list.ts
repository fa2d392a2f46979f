import type { Query } from "@lanthorn/client";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { shortTime } from "../short-time.ts";

/** What the command line narrows the list to; each takes what the API's filter of that kind takes. */
export interface DeviceListOptions {
  readonly site?: string;
  readonly online?: boolean;
  readonly vendor?: string;
  readonly type?: string;
  readonly os?: string;
  readonly tag?: string;
  readonly subnet?: string;
  readonly openPort?: string;
  readonly search?: string;
  /** In the filter language. */
  readonly filter?: string;
  readonly sort: string;
}

/** Filters as the API has them; every page is read. */
export async function listDevices({ rest }: Connection, filters: Query): Promise<Answer> {
  const devices = await collect(rest.listDevices, filters);
  return {
    json: devices,
    table: {
      heading: ["STATE", "IP", "HOSTNAME", "TYPE", "OPEN PORTS", "VENDOR", "MAC", "LAST SEEN"],
      keptColumns: 5,
      rows: devices.map((device) => [
        device.presence_state, device.ip, device.hostname || "-", device.device_type, device.open_ports.join(",") || "-",
        device.vendor || "-", device.mac || "-", device.last_seen === null ? "never" : shortTime(device.last_seen),
      ]),
    },
  };
}
