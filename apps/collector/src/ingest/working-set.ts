import type { Evidence } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import type { Insertable } from "kysely";
import { addressKey } from "../db/address-key.ts";
import type { Schema } from "../db/schema.ts";
import { type IdentityKey, keyText } from "../identity/keys.ts";
import { presenceOf } from "../identity/merge-records.ts";
import { type AddressRow, type ColumnGroup, type DeviceDraft, type DeviceFields, type HostRef, identified } from "./devices-draft.ts";

/** Whose events are applied. */
export interface Site {
  readonly tenantId: string;
  readonly siteId: string;
}

/** What batches touch of a site, read once before they are applied and written once after. */
export interface WorkingSet {
  readonly site: Site;
  readonly devices: ReadonlyMap<string, DeviceDraft>;
  /** Rows by their keys, to be written: the last one of a key counts. */
  readonly interfaces: ReadonlyMap<string, InterfaceRow>;
  readonly addresses: ReadonlyMap<string, AddressRow>;
  readonly evidence: ReadonlyMap<string, Schema["evidence"]>;
  readonly ports: ReadonlyMap<string, Schema["ports"]>;
  readonly changes: readonly Insertable<Schema["device_changes"]>[];
  /** Keys that their devices did not have. */
  readonly keys: readonly Schema["device_keys"][];
  /** How interfaces of devices that have several are now, by their MACs. */
  readonly interfacePresence: ReadonlyMap<string, string>;

  /** The device that has this MAC at the site; without a MAC, or with one that many have, the one that now has this address. */
  find(ref: HostRef): DeviceDraft | undefined;
  create(ref: HostRef, fields: Pick<DeviceFields, "hostname" | "vendor" | "last_seen">): DeviceDraft;
  /** Sets fields that differ. @returns Whether any did. */
  set(device: DeviceDraft, group: ColumnGroup, values: Partial<DeviceFields>): boolean;
  setVendor(device: DeviceDraft, mac: string, vendor: string, at: string): void;
  /** These are all the addresses that the interface has now. @returns Whether that is news. */
  setAddresses(device: DeviceDraft, mac: string, ips: readonly string[], at: string): boolean;
  /** The lowest address that the interface has now. */
  lowestAddress(device: DeviceDraft, mac: string): AddressRow | undefined;
  /** Of a device with several interfaces. @returns How the device is, all of them taken together. */
  setInterfacePresence(device: DeviceDraft, mac: string, state: string): string;
  /** Beyond `MAX_EVIDENCE` of one device, only what it has is renewed. */
  addEvidence(device: DeviceDraft, evidence: readonly Evidence[]): void;
  addKeys(device: DeviceDraft, keys: readonly IdentityKey[], at: string): void;
  setPort(device: DeviceDraft, port: Omit<Schema["ports"], "device_id" | "tenant_id">): void;
  addChange(device: DeviceDraft, change: Pick<Schema["device_changes"], "at" | "field" | "before" | "after" | "source">): void;
}

/** Takes in rows as they were read, before anything is applied. */
export interface HeldRows {
  byMac(mac: string, vendor: string, device: DeviceRow): void;
  byIp(ip: string, device: DeviceRow): void;
  /** Of a device with several. */
  interfaceOf(deviceId: string, mac: string, state: string): void;
  key(deviceId: string, text: string): void;
  /** One that its interface has now. */
  address(row: AddressRow): void;
  openPort(deviceId: string, port: Pick<Schema["ports"], "port" | "protocol">): void;
}

type DeviceRow = DeviceFields & { readonly id: string; readonly locked_fields: string; readonly mac_count: number };
type InterfaceRow = Omit<Insertable<Schema["interfaces"]>, "presence_state"> & { readonly vendor: string };

/** What is taken in of one device at once; a busy machine's whole state has some dozens. */
export const MAX_EVIDENCE = 500;

const NO_LOCKS: ReadonlySet<string> = new Set();

/** A set of nothing yet, and how it gets what it is to hold. */
export function createWorkingSet(site: Site): { readonly set: WorkingSet; readonly hold: HeldRows } {
  const { tenantId, siteId } = site;
  const devices = new Map<string, DeviceDraft>();
  const byMac = new Map<string, DeviceDraft>();
  const byIp = new Map<string, DeviceDraft>();
  const interfaceVendors = new Map<string, string>();
  const addresses = new Map<string, AddressRow>();
  const currentByInterface = new Map<string, Map<string, AddressRow>>();
  const openPorts = new Map<string, Set<string>>();
  const dirtyInterfaces = new Map<string, InterfaceRow>();
  const evidence = new Map<string, Schema["evidence"]>();
  const evidenceOf = new Map<string, number>();
  const ports = new Map<string, Schema["ports"]>();
  const changes: Insertable<Schema["device_changes"]>[] = [];
  const heldKeys = new Set<string>();
  const newKeys: Schema["device_keys"][] = [];
  const interfacePresence = new Map<string, string>();

  const draftOf = (row: DeviceRow): DeviceDraft => {
    let draft = devices.get(row.id);
    if (!draft) {
      const { id, locked_fields, mac_count, ...fields } = row;
      draft = {
        id, isNew: false, fields, changed: new Set(), interfaces: mac_count > 1 ? new Map() : null,
        locked: locked_fields === "[]" ? NO_LOCKS : new Set(JSON.parse(locked_fields) as string[]),
      };
      devices.set(id, draft);
    }
    return draft;
  };

  const hold: HeldRows = {
    byMac(mac, vendor, device) {
      byMac.set(mac, draftOf(device));
      interfaceVendors.set(mac, vendor);
    },
    byIp: (ip, device) => void byIp.set(ip, draftOf(device)),
    interfaceOf: (deviceId, mac, state) => void devices.get(deviceId)?.interfaces?.set(mac, state),
    key: (deviceId, text) => void heldKeys.add(`${deviceId} ${text}`),
    address: (row) => void currentOf(row.device_id, row.mac).set(row.ip, row),
    openPort: (deviceId, { port, protocol }) => void openPortsOf(deviceId).add(`${port} ${protocol}`),
  };

  function currentOf(deviceId: string, mac: string): Map<string, AddressRow> {
    const key = `${deviceId} ${mac}`;
    let current = currentByInterface.get(key);
    if (!current) currentByInterface.set(key, (current = new Map()));
    return current;
  }
  function openPortsOf(deviceId: string): Set<string> {
    let open = openPorts.get(deviceId);
    if (!open) openPorts.set(deviceId, (open = new Set()));
    return open;
  }
  function set(device: DeviceDraft, group: ColumnGroup, values: Partial<DeviceFields>): boolean {
    const fields = device.fields as Record<string, unknown>;
    const differing = Object.entries(values).filter(([name, value]) => fields[name] !== value);
    for (const [name, value] of differing) fields[name] = value;
    if (differing.length > 0) device.changed.add(group);
    return differing.length > 0;
  }

  const workingSet: WorkingSet = {
    site, devices, interfaces: dirtyInterfaces, addresses, evidence, ports, changes, keys: newKeys, interfacePresence, set,
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
      devices.set(device.id, device);
      if (ref.mac === "") byIp.set(ref.ip, device);
      else byMac.set(ref.mac, device);
      return device;
    },
    setVendor(device, mac, vendor, at) {
      if (mac === "" || interfaceVendors.get(mac) === vendor) return;
      interfaceVendors.set(mac, vendor);
      dirtyInterfaces.set(mac, { device_id: device.id, tenant_id: tenantId, site_id: siteId, mac, vendor, first_seen: at });
    },
    setAddresses(device, mac, list, at) {
      const current = currentOf(device.id, mac);
      const now = new Set(list);
      let isNews = false;
      const write = (row: AddressRow) => void addresses.set(`${row.device_id} ${row.mac} ${row.ip}`, row);
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
    lowestAddress(device, mac) {
      return [...currentOf(device.id, mac).values()].toSorted((a, b) => (a.ip_key < b.ip_key ? -1 : 1))[0];
    },
    setInterfacePresence(device, mac, state) {
      const { interfaces } = device;
      // An address without a MAC is of no interface that could keep a state.
      if (interfaces === null || !interfaces.has(mac)) return state;
      if (interfaces.get(mac) !== state) interfacePresence.set(mac, state);
      interfaces.set(mac, state);
      return presenceOf([...interfaces.values()]);
    },
    addKeys(device, keys, at) {
      for (const key of keys) {
        const text = keyText(key);
        const held = `${device.id} ${text}`;
        if (heldKeys.has(held)) continue;
        heldKeys.add(held);
        newKeys.push({ device_id: device.id, tenant_id: tenantId, site_id: siteId, key: text, source: key.source, first_seen: at });
      }
    },
    addEvidence(device, list) {
      for (const { field, value, source, confidence, seen_at } of list) {
        const key = JSON.stringify([device.id, field, source, value]);
        const known = evidence.get(key);
        if (known && known.seen_at >= seen_at) continue;
        if (!known) {
          const count = evidenceOf.get(device.id) ?? 0;
          if (count >= MAX_EVIDENCE) continue;
          evidenceOf.set(device.id, count + 1);
        }
        evidence.set(key, { device_id: device.id, tenant_id: tenantId, field, value, source, confidence, seen_at });
      }
    },
    setPort(device, port) {
      ports.set(`${device.id} ${port.port} ${port.protocol}`, { device_id: device.id, tenant_id: tenantId, ...port });
      const open = openPortsOf(device.id);
      const key = `${port.port} ${port.protocol}`;
      if (port.state === "open" ? open.has(key) : !open.has(key)) return;
      if (port.state === "open") open.add(key);
      else open.delete(key);
      const numbers = [...new Set([...open].map((entry) => Number.parseInt(entry, 10)))].toSorted((a, b) => a - b);
      set(device, "ports", { open_ports: JSON.stringify(numbers) });
    },
    addChange(device, change) {
      changes.push({ id: createId(), device_id: device.id, tenant_id: tenantId, ...change });
    },
  };
  return { set: workingSet, hold };
}
