import type { Evidence } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import type { Insertable, Selectable } from "kysely";
import type { Schema } from "../db/schema.ts";
import type { IdentityKey } from "../identity/keys.ts";
import type { AddressRow, ColumnGroup, DeviceDraft, DeviceFields, HostRef } from "./devices/devices-draft.ts";
import { createAddresses } from "./working-set/addresses.ts";
import { createDevices, type DeviceRow } from "./working-set/devices.ts";
import { createEvidenceAndKeys } from "./working-set/evidence.ts";
import { createHostSoftware, type HostSoftwareSet } from "./working-set/host-software.ts";
import { createPorts, type HeldPort, type SeenPort } from "./working-set/ports.ts";

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
  readonly ports: ReadonlyMap<string, Selectable<Schema["ports"]>>;
  /** Software of hosts themselves. */
  readonly software: Pick<HostSoftwareSet, "rows" | "gone">;
  /** Devices of which any software, or the system that it runs on, is another than before, by id, with when that was seen. */
  readonly softwareChanges: ReadonlyMap<string, string>;
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
  /** What was seen later than this stays. */
  setPort(device: DeviceDraft, port: SeenPort): void;
  /** See `HostSoftwareSet`. */
  setSoftware(device: DeviceDraft, software: Parameters<HostSoftwareSet["set"]>[1], at: string): void;
  /** The device's system is taken for another one, by which its software is judged. */
  systemChanged(device: DeviceDraft, at: string): void;
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
  port(row: HeldPort): void;
  software(row: Schema["device_software"]): void;
}

type InterfaceRow = Omit<Insertable<Schema["interfaces"]>, "presence_state"> & { readonly vendor: string };

/** A set of nothing yet, and how it gets what it is to hold. */
export function createWorkingSet(site: Site): { readonly set: WorkingSet; readonly hold: HeldRows } {
  const { tenantId, siteId } = site;
  const devices = createDevices();
  const addresses = createAddresses(site);
  const said = createEvidenceAndKeys(site);
  const ports = createPorts(tenantId);
  const software = createHostSoftware(tenantId);
  const softwareChanges = new Map<string, string>();
  const interfaceVendors = new Map<string, string>();
  const dirtyInterfaces = new Map<string, InterfaceRow>();
  const changes: Insertable<Schema["device_changes"]>[] = [];
  const hold: HeldRows = {
    byMac(mac, vendor, device) {
      devices.holdByMac(mac, device);
      interfaceVendors.set(mac, vendor);
    },
    byIp: devices.holdByIp,
    interfaceOf: devices.holdInterface,
    key: said.holdKey,
    address: addresses.hold,
    port: ports.hold,
    software: software.hold,
  };
  const set: WorkingSet = {
    site, devices: devices.all, interfaces: dirtyInterfaces, addresses: addresses.rows, evidence: said.evidence, ports: ports.rows,
    software, softwareChanges, changes, keys: said.keys, interfacePresence: devices.interfacePresence,
    find: devices.find, create: devices.create, set: devices.set, setInterfacePresence: devices.setInterfacePresence,
    setAddresses: addresses.set, lowestAddress: addresses.lowest, addEvidence: said.addEvidence, addKeys: said.addKeys,
    setVendor(device, mac, vendor, at) {
      if (mac === "" || interfaceVendors.get(mac) === vendor) return;
      interfaceVendors.set(mac, vendor);
      dirtyInterfaces.set(mac, { device_id: device.id, tenant_id: tenantId, site_id: siteId, mac, vendor, first_seen: at });
    },
    setPort(device, port) {
      const { open, isOtherSoftware } = ports.set(device, port);
      if (open !== null) devices.set(device, "ports", { open_ports: open });
      if (isOtherSoftware) softwareChanges.set(device.id, port.last_scanned);
    },
    setSoftware(device, list, at) {
      if (software.set(device, list, at)) softwareChanges.set(device.id, at);
    },
    systemChanged: (device, at) => void softwareChanges.set(device.id, at),
    addChange(device, change) {
      changes.push({ id: createId(), device_id: device.id, tenant_id: tenantId, ...change });
    },
  };
  return { set, hold };
}
