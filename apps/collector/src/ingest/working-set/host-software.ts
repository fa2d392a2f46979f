import type { EventData } from "@lanthorn/contract";
import type { Schema } from "../../db/schema.ts";
import { isSameSoftware, toColumns } from "../../software/columns.ts";
import type { DeviceDraft } from "../devices/devices-draft.ts";

type SoftwareRow = Schema["device_software"];
type Reported = EventData<"host_software">["software"];

/** Rows of one device. A machine shows some; a probe that makes up sources must not fill the table. */
export const MAX_DEVICE_SOFTWARE = 64;

/** Software of hosts themselves while batches are applied. */
export interface HostSoftwareSet {
  /** Rows to be written, by their keys. */
  readonly rows: ReadonlyMap<string, SoftwareRow>;
  /** Keys of rows that are to go: device, source and product. */
  readonly gone: ReadonlyMap<string, Pick<SoftwareRow, "device_id" | "source" | "product">>;
  /** Takes in one as it was read. */
  hold(row: SoftwareRow): void;
  /**
   * Each source that is reported says all of it at once: what it said before and does not say now is gone. What a source said later than
   * this stays. Of too many, those go that were seen longest ago.
   * @returns Whether anything is other software than before.
   */
  set(device: DeviceDraft, software: Reported, at: string): boolean;
}

const keyOf = ({ device_id, source, product }: Pick<SoftwareRow, "device_id" | "source" | "product">) => JSON.stringify([device_id, source, product]);

/** Holds none yet. */
export function createHostSoftware(tenantId: string): HostSoftwareSet {
  const rows = new Map<string, SoftwareRow>();
  const gone = new Map<string, SoftwareRow>();
  const devices = new Map<string, Map<string, SoftwareRow>>();
  const knownOf = (deviceId: string) => {
    let known = devices.get(deviceId);
    if (!known) devices.set(deviceId, (known = new Map()));
    return known;
  };
  const write = (row: SoftwareRow) => {
    const key = keyOf(row);
    const before = knownOf(row.device_id).get(key);
    knownOf(row.device_id).set(key, row);
    rows.set(key, row);
    gone.delete(key);
    return !before || !isSameSoftware(before, row);
  };
  const remove = (row: SoftwareRow) => {
    const key = keyOf(row);
    knownOf(row.device_id).delete(key);
    rows.delete(key);
    gone.set(key, row);
  };
  return {
    rows, gone,
    hold: (row) => void knownOf(row.device_id).set(keyOf(row), row),
    set(device, software, at) {
      const known = knownOf(device.id);
      let isOther = false;
      const said = new Set(software.map(({ source, product }) => JSON.stringify([device.id, source, product])));
      const isLate = (source: string) => [...known.values()].some((row) => row.source === source && row.last_seen > at);
      const sources = new Set(software.map(({ source }) => source).filter((source) => !isLate(source)));
      for (const { source, ...one } of software) {
        if (!sources.has(source)) continue;
        const first = known.get(keyOf({ device_id: device.id, source, product: one.product }))?.first_seen ?? at;
        isOther = write({ device_id: device.id, tenant_id: tenantId, source, ...toColumns(one), first_seen: first, last_seen: at }) || isOther;
      }
      const replaced = [...known.values()].filter((row) => sources.has(row.source) && !said.has(keyOf(row)));
      const kept = [...known.values()].filter((row) => !replaced.includes(row))
        .toSorted((a, b) => (a.last_seen === b.last_seen ? (keyOf(a) < keyOf(b) ? -1 : 1) : a.last_seen > b.last_seen ? -1 : 1));
      const leaving = [...replaced, ...kept.slice(MAX_DEVICE_SOFTWARE)];
      for (const row of leaving) remove(row);
      return isOther || leaving.length > 0;
    },
  };
}
