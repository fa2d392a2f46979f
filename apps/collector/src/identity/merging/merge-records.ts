import type { DeviceVerdicts } from "@lanthorn/fingerprints";
import { type DeviceRecord, PART_TABLES, type PartRow, type PartTable, partKey } from "../record.ts";
import { shownOf, verdictsOf } from "../verdicts.ts";

/**
 * One device of two that are the same. It keeps the identity, the words and the locks of `kept`; from `merged` comes what it
 * does not have, and what a person set there. The longer life, the later sighting and the later scan count.
 *
 * The same two always make the same one: `split` counts on it.
 */
export function mergeRecords(kept: DeviceRecord, merged: DeviceRecord): DeviceRecord {
  const parts = {
    interfaces: union("interfaces", [withPresence(kept), withPresence(merged)], (a) => a),
    addresses: union("addresses", [kept, merged], (a, b) => ({
      ...a, first_seen: earlier(a.first_seen, b.first_seen), last_seen: later(a.last_seen, b.last_seen),
      current: Math.max(a.current, b.current),
    })),
    ports: union("ports", [kept, merged], (a, b) => (b.last_scanned > a.last_scanned ? b : a)),
    evidence: union("evidence", [kept, merged], (a, b) => (b.seen_at > a.seen_at ? b : a)),
    device_keys: union("device_keys", [kept, merged], (a, b) => (b.first_seen < a.first_seen ? b : a)),
    // Of both, that is since when all of it has been looked at.
    port_looks: union("port_looks", [kept, merged], (a, b) => (b.looked_at < a.looked_at ? b : a)),
    device_software: union("device_software", [kept, merged], (a, b) => (
      { ...(b.last_seen > a.last_seen ? b : a), first_seen: earlier(a.first_seen, b.first_seen) }
    )),
  };
  const verdicts = verdictsOf(parts.evidence);
  const counts = { open_ports: openPorts(parts.ports), mac_count: parts.interfaces.length };
  return { device: { ...mergeDevices(kept.device, merged.device, verdicts), ...counts }, ...parts };
}

type Device = DeviceRecord["device"];

/** Fields of text that a person may set, with what they are while they are unknown. */
const TEXTS = { hostname: "", vendor: "", os_guess: "", device_type: "unknown" } as const;

/** @param verdicts What the evidence of both comes to. */
function mergeDevices(kept: Device, merged: Device, verdicts: DeviceVerdicts): Device {
  const keptLocks = lockedOf(kept);
  const mergedLocks = lockedOf(merged);
  /** Whose word counts: a person's before discovery's, then the kept one's. */
  const speaks = (field: string, isKnown: (device: Device) => boolean) => {
    if (keptLocks.has(field)) return kept;
    return mergedLocks.has(field) || !isKnown(kept) ? merged : kept;
  };
  const texts: Record<keyof typeof TEXTS, string> = Object.fromEntries((Object.keys(TEXTS) as (keyof typeof TEXTS)[]).map((field) =>
    [field, speaks(field, (device) => device[field] !== TEXTS[field])[field]])) as Record<keyof typeof TEXTS, string>;
  const judged = shownOf(verdicts);
  for (const [field, verdict] of [["os_guess", verdicts.os], ["device_type", verdicts.device_type]] as const) {
    if (verdict && !keptLocks.has(field) && !mergedLocks.has(field)) texts[field] = judged[field];
  }
  // An address and its MAC are of one interface, and shown is one that answers.
  const isPlaced = (locks: ReadonlySet<string>) => locks.has("ip") || locks.has("mac");
  const primary = !isPlaced(keptLocks) && (isPlaced(mergedLocks) || isBetter(merged, kept)) ? merged : kept;
  const isMacLearned = primary.mac === "" && !lockedOf(primary).has("mac") && kept.ip === merged.ip;
  return {
    ...kept, ...texts, verdicts: JSON.stringify(verdicts), ip: primary.ip, ip_key: primary.ip_key,
    mac: isMacLearned ? kept.mac || merged.mac : primary.mac, is_online: Math.max(kept.is_online, merged.is_online),
    presence_state: presenceOf([kept.presence_state, merged.presence_state]), first_seen: earlier(kept.first_seen, merged.first_seen),
    last_seen: later(kept.last_seen, merged.last_seen),
    tags: JSON.stringify([...new Set([...(JSON.parse(kept.tags) as string[]), ...(JSON.parse(merged.tags) as string[])])]),
    locked_fields: JSON.stringify([...new Set([...keptLocks, ...mergedLocks])].toSorted()),
  };
}

function isBetter(candidate: Device, than: Device): boolean {
  if (than.ip === "" || candidate.ip === "") return candidate.ip !== "";
  if ((than.mac === "") !== (candidate.mac === "")) return candidate.mac !== "";
  return candidate.presence_state === "online" && than.presence_state !== "online";
}

/** Online while any of them is; else unknown while any of them is. */
export function presenceOf(states: readonly string[]): string {
  if (states.includes("online")) return "online";
  return states.includes("unknown") || states.length === 0 ? "unknown" : "offline";
}

/** Only a device of several interfaces keeps how each of them is: for one of a single interface it is how the device is. */
function withPresence(record: DeviceRecord): DeviceRecord {
  if (record.interfaces.length !== 1) return record;
  return { ...record, interfaces: record.interfaces.map((row) => ({ ...row, presence_state: record.device.presence_state })) };
}

/** The open ports' numbers as the device's row has them. */
export function openPorts(ports: DeviceRecord["ports"]): string {
  const open = ports.filter(({ state }) => state === "open").map(({ port }) => port);
  return JSON.stringify([...new Set(open)].toSorted((a, b) => a - b));
}

function union<T extends PartTable>(
  table: T, [kept, merged]: readonly [DeviceRecord, DeviceRecord], pick: (a: PartRow<T>, b: PartRow<T>) => PartRow<T>,
): readonly PartRow<T>[] {
  const rows = new Map((kept[table] as readonly PartRow<T>[]).map((row) => [partKey(table, row), row]));
  for (const row of merged[table] as readonly PartRow<T>[]) {
    const key = partKey(table, row);
    const known = rows.get(key);
    rows.set(key, known === undefined ? row : pick(known, row));
  }
  return [...rows.values()];
}

function lockedOf(device: Device): ReadonlySet<string> {
  return new Set(JSON.parse(device.locked_fields) as string[]);
}

/** The earlier of two instants, of which one that never was is empty. */
function earlier(a: string, b: string): string {
  if (a === "" || b === "") return a || b;
  return a < b ? a : b;
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

/** Every table of a record's parts, made by `make`. */
export function partsOf(make: <T extends PartTable>(table: T) => readonly PartRow<T>[]): Pick<DeviceRecord, PartTable> {
  return Object.fromEntries(PART_TABLES.map((table) => [table, make(table)])) as unknown as Pick<DeviceRecord, PartTable>;
}
