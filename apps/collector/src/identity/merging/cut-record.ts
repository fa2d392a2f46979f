import { presenceOf } from "./merge-records.ts";
import type { DeviceRecord } from "../record.ts";

/**
 * Two devices of one: what the interfaces have goes with them, and all that was learned of the device as a whole stays.
 * @param macs Some of its interfaces, not all.
 * @param newId The id of the device that they become.
 */
export function cutRecord(
  record: DeviceRecord, macs: ReadonlySet<string>, newId: string,
): { readonly kept: DeviceRecord; readonly taken: DeviceRecord } {
  const { device } = record;
  const [rest, part] = [halfOf(record, (mac) => !macs.has(mac)), halfOf(record, (mac) => macs.has(mac))];
  const firstSeen = part.interfaces.map(({ first_seen }) => first_seen).reduce((a, b) => (a < b ? a : b), device.last_seen);
  const kept = { ...device, ...rest.state, ...(macs.has(device.mac) ? rest.shown : {}) };
  const taken = {
    ...device, ...part.state, ...part.shown, id: newId, vendor: part.interfaces[0]?.vendor ?? "", hostname: "", os_guess: "",
    device_type: "unknown", first_seen: firstSeen, open_ports: "[]", tags: "[]", locked_fields: "[]", verdicts: "{}",
  };
  return {
    kept: { ...record, interfaces: rest.interfaces, addresses: rest.addresses, device: kept },
    taken: { interfaces: part.interfaces, addresses: part.addresses, ports: [], evidence: [], device_keys: [], port_looks: [], device_software: [], device: taken },
  };
}

function halfOf(record: DeviceRecord, isOwn: (mac: string) => boolean) {
  const interfaces = record.interfaces.filter(({ mac }) => isOwn(mac));
  const addresses = record.addresses.filter(({ mac }) => isOwn(mac));
  const presence = presenceOf(interfaces.map(({ presence_state }) => presence_state));
  const shown = addresses.filter(({ current }) => current === 1).toSorted((a, b) => (a.ip_key < b.ip_key ? -1 : 1))[0];
  return {
    interfaces, addresses,
    state: {
      presence_state: presence, mac_count: Math.max(1, interfaces.length),
      is_online: presence === "unknown" ? record.device.is_online : Number(presence === "online"),
    },
    /** The address by which it is listed. */
    shown: { ip: shown?.ip ?? "", ip_key: shown?.ip_key ?? "", mac: shown?.mac ?? interfaces[0]?.mac ?? "" },
  };
}
