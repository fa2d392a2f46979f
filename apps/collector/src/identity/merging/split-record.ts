import { openPorts, partsOf, presenceOf } from "./merge-records.ts";
import { type DeviceRecord, isSameRow, type PartRow, type PartTable, partKey } from "../record.ts";

/** Two devices. */
export interface Pair {
  readonly kept: DeviceRecord;
  readonly merged: DeviceRecord;
}

/** Two devices as they were before they were merged, and the one that they made. */
export interface Snapshot extends Pair {
  readonly after: DeviceRecord;
}

/**
 * Undoes a merge. What nobody has changed since is as it was before, to the last column of both devices. What has changed
 * since goes to whom it is about: what was seen of an interface to the device that gets the interface back, a port or a
 * finding to the device that had it, and what is new to the kept one.
 * @param now The kept device as it is now.
 */
export function splitRecord(now: DeviceRecord, before: Snapshot): Pair {
  const { after } = before;
  const macs = new Set(before.merged.interfaces.map(({ mac }) => mac));
  const parts = { kept: partsOf((table) => splitPart(table, "kept")), merged: partsOf((table) => splitPart(table, "merged")) };

  function splitPart<T extends PartTable>(table: T, side: "kept" | "merged"): readonly PartRow<T>[] {
    const [rowsNow, rowsAfter, rowsKept, rowsMerged] = [now, after, before.kept, before.merged].map((record) => byKey(table, record));
    return [...new Set([...rowsBefore(table, before[side]), ...(rowsNow?.keys() ?? [])])].flatMap((key) => {
      const [row, made, kept, merged] = [rowsNow?.get(key), rowsAfter?.get(key), rowsKept?.get(key), rowsMerged?.get(key)];
      const own = side === "kept" ? kept : merged;
      if (row === undefined) return [];
      if (made !== undefined && isSameRow(row, made)) return own ?? [];
      const owner = ownerOf(row, { kept, merged });
      if (owner === side) return [row];
      return own ?? [];
    });
  }

  /** Whose a row is that is not as the merge left it. */
  function ownerOf(row: object, had: { readonly kept: unknown; readonly merged: unknown }): "kept" | "merged" {
    if ("mac" in row && macs.has(String(row.mac))) return "merged";
    return had.kept === undefined && had.merged !== undefined ? "merged" : "kept";
  }

  const kept = { device: splitDevice(now.device, after.device, before.kept.device), ...parts.kept };
  const merged = { device: before.merged.device, ...parts.merged };
  return { kept: settle(kept, before.kept, now), merged: settle(merged, before.merged, now) };
}

type Device = DeviceRecord["device"];

/** Each column as it was, unless it has been changed since. */
function splitDevice(now: Device, after: Device, before: Device): Device {
  const columns = Object.keys(before) as (keyof Device)[];
  return Object.fromEntries(columns.map((column) =>
    [column, now[column] === after[column] ? before[column] : now[column]])) as unknown as Device;
}

/** Brings the device's row in line with parts that are not as they were before the merge. */
function settle(record: DeviceRecord, before: DeviceRecord, now: DeviceRecord): DeviceRecord {
  const { interfaces, addresses, ports } = record;
  let { device } = record;
  const isAsBefore = isSamePart("interfaces", record, before);
  if (isAsBefore && interfaces.length > 0) {
    device = { ...device, presence_state: before.device.presence_state, is_online: before.device.is_online };
  } else if (!isAsBefore) {
    const presence = presenceOf(interfaces.map(({ presence_state }) => presence_state));
    device = { ...device, presence_state: presence, is_online: presence === "unknown" ? device.is_online : Number(presence === "online") };
    if (presence === "online") device = { ...device, last_seen: now.device.last_seen };
  }
  const lastSeen = addresses.map(({ last_seen }) => last_seen).reduce((a, b) => (a > b ? a : b), "");
  if (!isSamePart("addresses", record, before) && lastSeen > device.last_seen) device = { ...device, last_seen: lastSeen };
  if (!isSamePart("ports", record, before)) device = { ...device, open_ports: openPorts(ports) };
  // Shown may be an address that goes with the other one.
  if (device.mac !== before.device.mac && !interfaces.some(({ mac }) => mac === device.mac)) {
    device = { ...device, ip: before.device.ip, ip_key: before.device.ip_key, mac: before.device.mac };
  }
  return { ...record, device: { ...device, mac_count: isAsBefore ? before.device.mac_count : interfaces.length } };
}

function isSamePart(table: PartTable, one: DeviceRecord, two: DeviceRecord): boolean {
  const [a, b] = [byKey(table, one), byKey(table, two)];
  return a.size === b.size && [...a].every(([key, row]) => {
    const other = b.get(key);
    return other !== undefined && isSameRow(row, other);
  });
}

function byKey<T extends PartTable>(table: T, record: DeviceRecord): ReadonlyMap<string, PartRow<T>> {
  return new Map((record[table] as readonly PartRow<T>[]).map((row) => [partKey(table, row), row]));
}

function rowsBefore(table: PartTable, record: DeviceRecord): readonly string[] {
  return [...byKey(table, record).keys()];
}
