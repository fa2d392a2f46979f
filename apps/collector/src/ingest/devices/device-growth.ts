import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { type DeviceLimits, trimDevices } from "../../retention/device-parts-store.ts";
import type { WorkingSet } from "../working-set.ts";

/** Bounds what hangs on one device while batches come. Retention does it too, but only every ten minutes. */
export interface DeviceGrowth {
  /** To be called after batches were written, in their transaction. Costs no statement for a device that few rows were written of. */
  limit(trx: Transaction<Schema>, sets: readonly WorkingSet[]): Promise<void>;
}

/** Rows that are written of a device before it is looked at: so many more than it may keep can be there for a while. */
export const MAX_UNCHECKED_ROWS = 500;
/** Devices that are counted. Those written of last stay; some megabytes. */
const MAX_COUNTED = 20_000;

/** What a set writes of devices' parts. */
const PARTS = ["changes", "addresses", "evidence", "ports", "keys"] as const;

/** @param keep What a device may keep, as retention has it. */
export function createDeviceGrowth(keep: DeviceLimits["keep"]): DeviceGrowth {
  /** Rows written since each device was last looked at; those written of last are at the end. */
  const written = new Map<string, number>();
  return {
    async limit(trx, sets) {
      const rows = new Map<string, number>();
      for (const set of sets) {
        for (const part of PARTS) for (const { device_id: id } of set[part].values()) rows.set(id, (rows.get(id) ?? 0) + 1);
      }
      const grown: string[] = [];
      for (const [id, count] of rows) {
        const total = (written.get(id) ?? 0) + count;
        written.delete(id);
        if (total > MAX_UNCHECKED_ROWS) grown.push(id);
        else written.set(id, total);
      }
      for (const id of written.keys()) {
        if (written.size <= MAX_COUNTED) break;
        written.delete(id);
      }
      await trimDevices(trx, grown, keep);
    },
  };
}
