import type { Schema } from "../../db/schema.ts";
import type { DeviceDraft } from "../devices/devices-draft.ts";

type PortRow = Schema["ports"];

/** Ports of a site's devices while batches are applied. */
export interface Ports {
  /** Rows to be written, by their keys. */
  readonly rows: ReadonlyMap<string, PortRow>;
  /** Takes in one that is open, as it was read. */
  holdOpen(deviceId: string, port: Pick<PortRow, "port" | "protocol">): void;
  /** @returns The numbers that are open now, as `open_ports` has them; null where they are as before. */
  set(device: DeviceDraft, port: Omit<PortRow, "device_id" | "tenant_id">): string | null;
}

/** Holds none yet. */
export function createPorts(tenantId: string): Ports {
  const rows = new Map<string, PortRow>();
  const openPorts = new Map<string, Set<string>>();
  const openOf = (deviceId: string): Set<string> => {
    let open = openPorts.get(deviceId);
    if (!open) openPorts.set(deviceId, (open = new Set()));
    return open;
  };
  const keyOf = ({ port, protocol }: Pick<PortRow, "port" | "protocol">) => `${port} ${protocol}`;
  return {
    rows,
    holdOpen: (deviceId, port) => void openOf(deviceId).add(keyOf(port)),
    set(device, port) {
      const key = keyOf(port);
      rows.set(`${device.id} ${key}`, { device_id: device.id, tenant_id: tenantId, ...port });
      const open = openOf(device.id);
      if (port.state === "open" ? open.has(key) : !open.has(key)) return null;
      if (port.state === "open") open.add(key);
      else open.delete(key);
      return JSON.stringify([...new Set([...open].map((entry) => Number.parseInt(entry, 10)))].toSorted((a, b) => a - b));
    },
  };
}
