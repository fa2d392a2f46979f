import type { Software } from "@lanthorn/contract";
import type { Selectable } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { isSameSoftware, NO_SOFTWARE, type SoftwareColumns, softwareOf, toColumns } from "../../software/columns.ts";
import type { DeviceDraft } from "../devices/devices-draft.ts";

type PortRow = Selectable<Schema["ports"]>;
/** What is read of a port before it is changed. */
export type HeldPort = Pick<PortRow, "device_id" | "port" | "protocol" | "state" | "last_scanned"> & SoftwareColumns;

/** A port as a probe reports it. */
export type SeenPort = Omit<PortRow, "device_id" | "tenant_id" | keyof SoftwareColumns> & {
  /** Null where naming finds no product; undefined where the report says nothing of it. */
  readonly software: Software | null | undefined;
};

/** What a port's sight changes of its device. */
export interface PortChange {
  /** The numbers that are open now, as `open_ports` has them; null where they are as before. */
  readonly open: string | null;
  readonly isOtherSoftware: boolean;
}

/** Ports of a site's devices while batches are applied. */
export interface Ports {
  /** Rows to be written, by their keys. */
  readonly rows: ReadonlyMap<string, PortRow>;
  /** Takes in one as it was read. */
  hold(row: HeldPort): void;
  /** What was seen later than this stays. */
  set(device: DeviceDraft, port: SeenPort): PortChange;
}

/** A scan reports a port when it is open and again with its service: between two batches a probe's clock may be read so much differently. */
const SAME_SIGHT_MS = 5000;
const UNCHANGED: PortChange = { open: null, isOtherSoftware: false };

/** Holds none yet. */
export function createPorts(tenantId: string): Ports {
  const rows = new Map<string, PortRow>();
  const devices = new Map<string, Map<string, Omit<HeldPort, "device_id">>>();
  const portsOf = (deviceId: string) => {
    let ports = devices.get(deviceId);
    if (!ports) devices.set(deviceId, (ports = new Map()));
    return ports;
  };
  const keyOf = ({ port, protocol }: Pick<PortRow, "port" | "protocol">) => `${port} ${protocol}`;
  return {
    rows,
    hold: (row) => void portsOf(row.device_id).set(keyOf(row), row),
    set(device, { software, ...port }) {
      const key = keyOf(port);
      const ports = portsOf(device.id);
      const known = ports.get(key);
      if (known && isLate(port, known)) return UNCHANGED;
      const last_scanned = known && known.last_scanned > port.last_scanned ? known.last_scanned : port.last_scanned;
      const seen = { ...port, last_scanned, ...softwareNow(known ?? NO_SOFTWARE, port, software) };
      rows.set(`${device.id} ${key}`, { device_id: device.id, tenant_id: tenantId, ...seen });
      ports.set(key, seen);
      const isOtherSoftware = !isSameSoftware(known ?? NO_SOFTWARE, seen);
      if ((known?.state === "open") === (port.state === "open")) return { open: null, isOtherSoftware };
      const open = [...ports.values()].filter(({ state }) => state === "open");
      return { open: JSON.stringify([...new Set(open.map((one) => one.port))].toSorted((a, b) => a - b)), isOtherSoftware };
    },
  };
}

/**
 * A scan reports a port that is open before it has asked what answers there: that takes nothing away. A service that is named
 * without its software is named by an older probe, and may be another one than before.
 */
function softwareNow(
  known: SoftwareColumns, { state, service }: Pick<PortRow, "state" | "service">, software: Software | null | undefined,
): SoftwareColumns {
  if (state === "closed" || state === "filtered") return NO_SOFTWARE;
  if (software === undefined) return service === "" ? softwareOf(known) : NO_SOFTWARE;
  return toColumns(software);
}

function isLate(port: Pick<HeldPort, "state" | "last_scanned">, known: Pick<HeldPort, "state" | "last_scanned">): boolean {
  if (known.last_scanned <= port.last_scanned) return false;
  return known.state !== port.state || Date.parse(known.last_scanned) - Date.parse(port.last_scanned) > SAME_SIGHT_MS;
}
