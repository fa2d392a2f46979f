/** What is saved of devices, groups and budget: bytes of their own for each, with version and checksum, so that one that is damaged costs no other. */
import { createDevice, type Device, KNOWN_KINDS, KNOWN_SIZES, LIFECYCLES } from "./devices/device.ts";
import type { Group } from "./groups.ts";
import type { ClockState } from "./packet-clock.ts";
import { createProfile, type Profile } from "./profile.ts";
import { readUsual, type SavedUsual, saveUsual } from "./devices/usual.ts";
import { openSealed, seal, type SealedReader } from "../sealed.ts";

/** The site's own series. */
export const SITE_KEY = "";
/** What an entry is of. */
export const DEVICE_ENTRY = "device";
/** What an entry is of. */
export const GROUP_ENTRY = "group";
/** What an entry is of. */
export const BUDGET_ENTRY = "budget";
/** What an entry is of. */
export const REGIONS_ENTRY = "regions";

/** What an entry is of. */
export const CLOCK_ENTRY = "clock";

/** Of a device, in the order in which they are saved. */
const NUMBERS = ["firstAt", "hours", "regionsMet", "adminPeersMet", "carried", "openSince", "quietHours", "driftUntil"] as const;
const GROUP_NUMBERS = ["hours", "regionsMet", "adminPeersMet"] as const;

/** A device, without what was counted of the hour that is not over. */
export function writeDevice(device: Device): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify({
    group: device.group, lifecycle: device.lifecycle, lifecycle_since: device.lifecycleSince, ports: device.leading.entries(), usual: saveUsual(device.usual),
  }));
  return seal([
    Float64Array.from([...NUMBERS.map((name) => device[name]), text.length]), ...tablesOf(device.profile), ...KNOWN_KINDS.map((kind) => device.known[kind].hashes()), text,
  ]);
}

/** @returns `null` for bytes that are damaged or of another version: the device is then to be learned anew. */
export function readDevice(key: string, bytes: Uint8Array): Device | null {
  const reader = openSealed(bytes);
  const numbers = reader?.take(Float64Array, NUMBERS.length + 1);
  if (!reader || !numbers?.every(Number.isFinite)) return null;
  const profile = readProfile(reader, "device");
  const known = KNOWN_KINDS.map((kind) => [kind, reader.take(Uint32Array, KNOWN_SIZES[kind])] as const);
  const text = reader.take(Uint8Array, numbers[NUMBERS.length] ?? 0);
  const words = text && readWords(text);
  if (!profile || !words || !reader.isAtEnd() || known.some(([, hashes]) => hashes === null)) return null;
  const device = createDevice(key, 0, { known: Object.fromEntries(known.map(([kind, hashes]) => [kind, hashes ?? undefined])), ports: words.ports, usual: words.usual });
  NUMBERS.forEach((name, index) => {
    device[name] = numbers[index] ?? 0;
  });
  return { ...device, profile, group: words.group, lifecycle: words.lifecycle, lifecycleSince: words.since };
}

/** What is known of like devices. */
export function writeGroup(group: Group): Uint8Array {
  return seal([Float64Array.from(GROUP_NUMBERS.map((name) => group[name])), ...tablesOf(group.profile)]);
}

/** @returns `null` for bytes that are damaged or of another version. */
export function readGroup(bytes: Uint8Array): Group | null {
  const reader = openSealed(bytes);
  const numbers = reader?.take(Float64Array, GROUP_NUMBERS.length);
  if (!reader || !numbers?.every(Number.isFinite)) return null;
  const profile = readProfile(reader, "group");
  const [hours = 0, regionsMet = 0, adminPeersMet = 0] = numbers;
  return profile && reader.isAtEnd() ? { profile, hours, regionsMet, adminPeersMet } : null;
}

/** How much of a day's budget is taken. */
export function writeBudget(state: readonly [day: number, taken: number]): Uint8Array {
  return seal([Float64Array.from(state)]);
}

/** @returns `null` for bytes that are damaged or of another version. */
export function readBudget(bytes: Uint8Array): readonly [day: number, taken: number] | null {
  const reader = openSealed(bytes);
  const numbers = reader?.take(Float64Array, 2);
  return numbers?.every(Number.isFinite) && reader?.isAtEnd() ? [numbers[0] ?? 0, numbers[1] ?? 0] : null;
}

/** Since when regions of peers are known; NaN for never. */
export function writeRegionsSince(since: number): Uint8Array {
  return seal([Float64Array.of(since)]);
}

/** @returns `null` for bytes that are damaged or of another version. */
export function readRegionsSince(bytes: Uint8Array): number | null {
  const reader = openSealed(bytes);
  const since = reader?.take(Float64Array, 1);
  return since && reader?.isAtEnd() ? since[0] ?? null : null;
}

/** Where packet time is. */
export function writeClock({ at, unwatched }: ClockState): Uint8Array {
  return seal([Float64Array.of(at, unwatched)]);
}

/** @returns `null` for bytes that are damaged or of another version. */
export function readClock(bytes: Uint8Array): ClockState | null {
  const reader = openSealed(bytes);
  const [at = Number.NaN, unwatched = Number.NaN] = reader?.take(Float64Array, 2) ?? [];
  return reader?.isAtEnd() && Number.isFinite(unwatched) ? { at, unwatched } : null;
}

/** In the order in which they are saved: the wider numbers first. */
function tablesOf({ means, spreads, highs, slotHighs, seen }: Profile): readonly (Float32Array | Uint16Array)[] {
  return [means, spreads, highs, slotHighs, seen];
}

function readProfile(reader: SealedReader, kind: "device" | "group"): Profile | null {
  const empty = createProfile(kind);
  const read = (like: Float32Array) => {
    const table = reader.take(Float32Array, like.length);
    return table?.every(Number.isFinite) ? table : null;
  };
  const [means, spreads, highs, slotHighs] = [read(empty.means), read(empty.spreads), read(empty.highs), read(empty.slotHighs)];
  const seen = reader.take(Uint16Array, empty.seen.length);
  return means && spreads && highs && slotHighs && seen ? { means, spreads, highs, slotHighs, seen } : null;
}

/** What is saved of a device in words. */
interface SavedWords extends Pick<Device, "group" | "lifecycle"> {
  readonly ports: [string, number][];
  readonly since: number;
  readonly usual: SavedUsual;
}

/** The checksum says that we wrote it, not that a version of ours wrote it rightly: types are looked at. */
function readWords(text: Uint8Array): SavedWords | null {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(text));
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || !("group" in value && "lifecycle" in value && "lifecycle_since" in value && "ports" in value && "usual" in value)) return null;
  const { group, ports, lifecycle_since: since } = value;
  const lifecycle = LIFECYCLES.find((name) => name === value.lifecycle);
  const isPort = (entry: unknown): entry is [string, number] => Array.isArray(entry) && typeof entry[0] === "string" && Number.isFinite(entry[1]);
  const usual = readUsual(value.usual);
  const isWhole = typeof group === "string" && typeof since === "number" && Array.isArray(ports) && ports.every(isPort);
  return isWhole && lifecycle && usual ? { group, lifecycle, ports, since, usual } : null;
}
