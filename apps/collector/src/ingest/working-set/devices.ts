import { createId } from "@lanthorn/runtime";
import { addressKey } from "../../db/keys/address-key.ts";
import { presenceOf } from "../../identity/merging/merge-records.ts";
import { type ColumnGroup, type DeviceDraft, type DeviceFields, type HostRef, identified } from "../devices/devices-draft.ts";

/** A device as it is read: with what a draft is made of. */
export type DeviceRow = DeviceFields & { readonly id: string; readonly locked_fields: string; readonly mac_count: number };

/** The devices of a site while batches are applied, and how they are found. */
export interface Devices {
  readonly all: ReadonlyMap<string, DeviceDraft>;
  /** How interfaces of devices that have several are now, by their MACs, where that is to be written. */
  readonly interfacePresence: ReadonlyMap<string, string>;
  holdByMac(mac: string, row: DeviceRow): void;
  holdByIp(ip: string, row: DeviceRow): void;
  /** Of a device with several. */
  holdInterface(deviceId: string, mac: string, state: string): void;
  /** See `WorkingSet.find`. */
  find(ref: HostRef): DeviceDraft | undefined;
  create(ref: HostRef, fields: Pick<DeviceFields, "hostname" | "vendor" | "last_seen">): DeviceDraft;
  /** Sets fields that differ. @returns Whether any did. */
  set(device: DeviceDraft, group: ColumnGroup, values: Partial<DeviceFields>): boolean;
  /** See `WorkingSet.setInterfacePresence`. */
  setInterfacePresence(device: DeviceDraft, mac: string, state: string): string;
}

const NO_LOCKS: ReadonlySet<string> = new Set();

/** Holds none yet. */
export function createDevices(): Devices {
  const all = new Map<string, DeviceDraft>();
  const byMac = new Map<string, DeviceDraft>();
  const byIp = new Map<string, DeviceDraft>();
  const interfacePresence = new Map<string, string>();
  const draftOf = (row: DeviceRow): DeviceDraft => {
    const known = all.get(row.id);
    if (known) return known;
    const { id, locked_fields, mac_count, ...fields } = row;
    const draft: DeviceDraft = {
      id, isNew: false, fields, changed: new Set(), interfaces: mac_count > 1 ? new Map() : null,
      locked: locked_fields === "[]" ? NO_LOCKS : new Set(JSON.parse(locked_fields) as string[]),
    };
    all.set(id, draft);
    return draft;
  };
  return {
    all, interfacePresence,
    holdByMac: (mac, row) => void byMac.set(mac, draftOf(row)),
    holdByIp: (ip, row) => void byIp.set(ip, draftOf(row)),
    holdInterface: (deviceId, mac, state) => void all.get(deviceId)?.interfaces?.set(mac, state),
    find(ref) {
      const { ip, mac } = identified(ref);
      return mac === "" ? byIp.get(ip) : byMac.get(mac);
    },
    create(ref, { hostname, vendor, last_seen }) {
      const device: DeviceDraft = {
        id: createId(), isNew: true, changed: new Set(), locked: NO_LOCKS, interfaces: null,
        fields: {
          ip: ref.ip, ip_key: addressKey(ref.ip), mac: ref.mac, hostname, vendor, is_online: 1, presence_state: "online",
          first_seen: last_seen, last_seen, open_ports: "[]", os_guess: "", device_type: "unknown", verdicts: "{}",
        },
      };
      all.set(device.id, device);
      if (ref.mac === "") byIp.set(ref.ip, device);
      else byMac.set(ref.mac, device);
      return device;
    },
    set(device, group, values) {
      const fields = device.fields as Record<string, unknown>;
      const differing = Object.entries(values).filter(([name, value]) => fields[name] !== value);
      for (const [name, value] of differing) fields[name] = value;
      if (differing.length > 0) device.changed.add(group);
      return differing.length > 0;
    },
    setInterfacePresence({ interfaces }, mac, state) {
      // An address without a MAC is of no interface that could keep a state.
      if (interfaces === null || !interfaces.has(mac)) return state;
      if (interfaces.get(mac) !== state) interfacePresence.set(mac, state);
      interfaces.set(mac, state);
      return presenceOf([...interfaces.values()]);
    },
  };
}
