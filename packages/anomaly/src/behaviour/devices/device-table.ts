import { beginNow, catchUp, type ClockReading } from "./catch-up.ts";
import { createDevice, type Device, type Lifecycle } from "./device.ts";
import type { Group, Groups } from "../groups.ts";
import { setFrozen } from "./lifecycle.ts";
import { DEVICE_ENTRY, GROUP_ENTRY, readDevice, readGroup, SITE_KEY, writeDevice, writeGroup } from "../state.ts";
import type { SavedEntry } from "../../sealed.ts";

/** Of the devices that are followed. */
const NEWCOMER_SHARE = 0.125;

/** What is known of a device. */
export interface DeviceState {
  readonly device: string;
  readonly lifecycle: Lifecycle;
  /** Since when it is in this state. Seconds of packet time, as `firstAt`. */
  readonly lifecycleSince: number;
  readonly group: string;
  readonly firstAt: number;
  /** Hours that were learned. */
  readonly hours: number;
}

/** The devices that are followed, a bounded number, and the site. What it gives is brought to the time that it is. */
export interface DeviceTable {
  readonly site: () => Device;
  /** The site and all devices as they are: each is to be brought to the time before it is used. */
  readonly all: () => readonly Device[];
  /** Brings one of them to the time that it is. */
  readonly catchUp: (device: Device) => void;
  /** The device, a new one where it is not known; the one that was silent for longest gives way. */
  readonly get: (key: string, at: number) => Device;
  /** The device; null where it is not known. Nothing gives way for it. */
  readonly find: (key: string) => Device | null;
  /** @returns Whether there is such a device. */
  readonly freeze: (key: string, isFrozen: boolean, at: number) => boolean;
  /** @returns Whether there was such a device. */
  readonly reset: (key: string) => boolean;
  /** Forgets all of them, and the site. */
  readonly clear: () => void;
  readonly states: () => readonly DeviceState[];
  /** Takes back what `save` gave. @returns Whether it could be read. */
  readonly restore: (entry: SavedEntry) => boolean;
  /** One entry for each device and group, made as it is asked for. */
  readonly save: () => Iterable<SavedEntry>;
  /** Devices that are followed, and that gave way. */
  readonly counts: () => { readonly devices: number; readonly evicted: number; readonly lifecycles: Readonly<Record<Lifecycle, number>> };
}

/** @param deps.groups Are given those that were saved. @param deps.clock Reads packet time. */
export function createDeviceTable(deps: { readonly maxDevices: number; readonly groups: Groups; readonly clock: () => ClockReading }): DeviceTable {
  const { groups } = deps;
  const devices = new Map<string, Device>();
  /** Of which no hour was learned, the least recent first. */
  const newcomers = new Set<string>();
  const mayBeNew = Math.max(1, deps.maxDevices * NEWCOMER_SHARE);
  let site = createDevice(SITE_KEY, 0);
  let evicted = 0;

  const current = (device: Device) => catchUp(device, deps.clock());
  const find = (key: string) => {
    const device = devices.get(key);
    return device === undefined ? null : current(device);
  };

  function restore({ kind, key, bytes }: SavedEntry): boolean {
    if (kind === GROUP_ENTRY) {
      const group = readGroup(bytes);
      if (group) groups.restore(key, group);
      return group !== null;
    }
    const device = kind === DEVICE_ENTRY ? readDevice(key, bytes) : null;
    if (!device) return false;
    device.unwatched = deps.clock().unwatched;
    if (key === SITE_KEY) site = device;
    else keep(device);
    return true;
  }

  function keep(device: Device): void {
    devices.delete(device.key);
    devices.set(device.key, device);
    newcomers.delete(device.key);
    if (device.hours === 0) newcomers.add(device.key);
    if (devices.size <= deps.maxDevices) return;
    devices.delete(outgoing());
    evicted += 1;
  }

  /** Who makes up one device after the other pushes out their like, and not those of which something is known. */
  function outgoing(): string {
    if (newcomers.size > mayBeNew) for (const key of newcomers) if (devices.get(key)?.hours !== 0) newcomers.delete(key);
    const isFlood = newcomers.size > mayBeNew;
    const key = (isFlood ? newcomers : devices).keys().next().value ?? "";
    newcomers.delete(key);
    return key;
  }

  return {
    site: () => current(site),
    all: () => [site, ...devices.values()],
    catchUp: current,
    get(key, at) {
      const device = devices.get(key) ?? beginNow(createDevice(key, at), deps.clock());
      keep(device);
      return current(device);
    },
    find,
    freeze(key, isFrozen, at) {
      const device = find(key);
      if (device) setFrozen(device, isFrozen, { groups, at });
      return device !== null;
    },
    reset(key) {
      newcomers.delete(key);
      return devices.delete(key);
    },
    clear() {
      devices.clear();
      newcomers.clear();
      site = createDevice(SITE_KEY, 0);
    },
    states: () => [...devices.values()].map((device) => stateOf(current(device))),
    restore,
    // What is used while it is saved moves to the end of its table, and would be come by again and again.
    save: () => entriesOf(Array.from(groups.entries()), [site, ...devices.values()], current),
    counts: () => ({ devices: devices.size, evicted, lifecycles: countLifecycles(devices.values()) }),
  };
}

/** Groups and devices, each caught up with packet time as it is asked for. */
function* entriesOf(groups: readonly (readonly [string, Group])[], devices: readonly Device[], current: (device: Device) => Device): Generator<SavedEntry, void> {
  for (const [key, group] of groups) yield { kind: GROUP_ENTRY, key, bytes: writeGroup(group) };
  for (const device of devices) yield { kind: DEVICE_ENTRY, key: device.key, bytes: writeDevice(current(device)) };
}

function countLifecycles(devices: Iterable<Device>): Readonly<Record<Lifecycle, number>> {
  const lifecycles = { learning: 0, active: 0, drifted: 0, frozen: 0 };
  for (const { lifecycle } of devices) lifecycles[lifecycle] += 1;
  return lifecycles;
}

/** What is known of a device in short. */
export function stateOf({ key, lifecycle, lifecycleSince, group, firstAt, hours }: Device): DeviceState {
  return { device: key, lifecycle, lifecycleSince, group, firstAt, hours };
}
