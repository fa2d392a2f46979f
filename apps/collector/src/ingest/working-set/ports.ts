import type { Schema } from "../../db/schema.ts";
import type { DeviceDraft } from "../devices/devices-draft.ts";

type PortRow = Schema["ports"];
/** What is read of a port before it is changed. */
export type HeldPort = Pick<PortRow, "device_id" | "port" | "protocol" | "state" | "last_scanned">;

/** Ports of a site's devices while batches are applied. */
export interface Ports {
  /** Rows to be written, by their keys. */
  readonly rows: ReadonlyMap<string, PortRow>;
  /** Takes in one as it was read. */
  hold(row: HeldPort): void;
  /**
   * What was seen later than this stays.
   * @returns The numbers that are open now, as `open_ports` has them; null where they are as before.
   */
  set(device: DeviceDraft, port: Omit<PortRow, "device_id" | "tenant_id">): string | null;
}

/** A scan reports a port when it is open and again with its service: between two batches a probe's clock may be read so much differently. */
const SAME_SIGHT_MS = 5000;

/** Holds none yet. */
export function createPorts(tenantId: string): Ports {
  const rows = new Map<string, PortRow>();
  const devices = new Map<string, Map<string, Pick<HeldPort, "port" | "state" | "last_scanned">>>();
  const portsOf = (deviceId: string) => {
    let ports = devices.get(deviceId);
    if (!ports) devices.set(deviceId, (ports = new Map()));
    return ports;
  };
  const keyOf = ({ port, protocol }: Pick<PortRow, "port" | "protocol">) => `${port} ${protocol}`;
  return {
    rows,
    hold: (row) => void portsOf(row.device_id).set(keyOf(row), row),
    set(device, port) {
      const key = keyOf(port);
      const ports = portsOf(device.id);
      const known = ports.get(key);
      if (known && isLate(port, known)) return null;
      const seen = { ...port, last_scanned: known && known.last_scanned > port.last_scanned ? known.last_scanned : port.last_scanned };
      rows.set(`${device.id} ${key}`, { device_id: device.id, tenant_id: tenantId, ...seen });
      ports.set(key, seen);
      if ((known?.state === "open") === (port.state === "open")) return null;
      const open = [...ports.values()].filter(({ state }) => state === "open");
      return JSON.stringify([...new Set(open.map((one) => one.port))].toSorted((a, b) => a - b));
    },
  };
}

function isLate(port: Pick<HeldPort, "state" | "last_scanned">, known: Pick<HeldPort, "state" | "last_scanned">): boolean {
  if (known.last_scanned <= port.last_scanned) return false;
  return known.state !== port.state || Date.parse(known.last_scanned) - Date.parse(port.last_scanned) > SAME_SIGHT_MS;
}
