import { addressKey } from "../../db/keys/address-key.ts";
import type { AddressRow, DeviceDraft } from "../devices/devices-draft.ts";

/** Addresses of a site's devices while batches are applied. */
export interface Addresses {
  /** Rows to be written, by their keys. */
  readonly rows: ReadonlyMap<string, AddressRow>;
  /** Takes in one that its interface has now, as it was read. */
  hold(row: AddressRow): void;
  /** See `WorkingSet.setAddresses`. */
  set(device: DeviceDraft, mac: string, list: readonly string[], at: string): boolean;
  /** See `WorkingSet.lowestAddress`. */
  lowest(device: DeviceDraft, mac: string): AddressRow | undefined;
}

/** Holds none yet. */
export function createAddresses({ tenantId, siteId }: { readonly tenantId: string; readonly siteId: string }): Addresses {
  const rows = new Map<string, AddressRow>();
  const currentByInterface = new Map<string, Map<string, AddressRow>>();
  const currentOf = (deviceId: string, mac: string): Map<string, AddressRow> => {
    const key = `${deviceId} ${mac}`;
    let current = currentByInterface.get(key);
    if (!current) currentByInterface.set(key, (current = new Map()));
    return current;
  };
  const write = (row: AddressRow) => void rows.set(`${row.device_id} ${row.mac} ${row.ip}`, row);
  return {
    rows,
    hold: (row) => void currentOf(row.device_id, row.mac).set(row.ip, row),
    set(device, mac, list, at) {
      const current = currentOf(device.id, mac);
      const now = new Set(list);
      let isNews = false;
      for (const ip of now) {
        const known = current.get(ip);
        const row: AddressRow = known ?? {
          device_id: device.id, tenant_id: tenantId, site_id: siteId, mac, ip, ip_key: addressKey(ip), first_seen: at, last_seen: at,
          current: 1,
        };
        isNews ||= known === undefined;
        if (row.last_seen < at) row.last_seen = at;
        // A person entered it, and it is seen now.
        if (row.first_seen === "") row.first_seen = at;
        current.set(ip, row);
        write(row);
      }
      for (const [ip, row] of current) {
        if (now.has(ip)) continue;
        current.delete(ip);
        write({ ...row, current: 0 });
        isNews = true;
      }
      return isNews;
    },
    lowest: (device, mac) => [...currentOf(device.id, mac).values()].toSorted((a, b) => (a.ip_key < b.ip_key ? -1 : 1))[0],
  };
}
