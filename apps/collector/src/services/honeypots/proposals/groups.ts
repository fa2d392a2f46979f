/** Which devices a decoy passes for, by what its services say: one of a maker whose products it does not play would contradict itself. */

/** A kind of device of a site, as the inventory has them. */
export interface DeviceGroup {
  readonly siteId: string;
  readonly vendor: string;
  readonly deviceType: string;
  readonly system: string;
  /** The first three octets of the MAC address. */
  readonly block: string;
  readonly devices: number;
}

/** What a decoy may be at a site. */
export interface Candidate {
  readonly siteId: string;
  readonly persona: string;
  /** As people call such a device: `Synology`. */
  readonly label: string;
  readonly devices: number;
  /** The block of MAC addresses that most of them have; null where that is of no maker. */
  readonly block: string | null;
  readonly groups: readonly DeviceGroup[];
}

interface Kind {
  readonly persona: string;
  readonly label: string;
  readonly types: readonly string[];
  readonly vendor: RegExp | null;
  readonly system: RegExp | null;
}

const KINDS: readonly Kind[] = [
  { persona: "nas", label: "Synology", types: ["server", "iot", "unknown"], vendor: /^synology\b/i, system: null },
  { persona: "printer", label: "HP printers", types: ["printer"], vendor: /^(?:hewlett packard|hewlett-packard|hp)\b/i, system: null },
  { persona: "switch", label: "Cisco switches", types: ["switch"], vendor: /^cisco\b/i, system: null },
  { persona: "camera", label: "Hikvision cameras", types: ["camera"], vendor: /\bhikvision\b/i, system: null },
  { persona: "windows", label: "Windows servers", types: ["server"], vendor: null, system: /\bwindows\b/i },
  { persona: "linux", label: "Linux servers", types: ["server"], vendor: null, system: /\b(?:linux|debian|ubuntu)\b/i },
];
/** Below, a decoy would stand out. */
const MIN_DEVICES = 2;

/** @returns What decoys may be, by site, that of which there are most first. */
export function candidatesOf(groups: readonly DeviceGroup[]): readonly Candidate[] {
  const found = new Map<string, { readonly kind: Kind; readonly groups: DeviceGroup[] }>();
  for (const group of groups) {
    const kind = KINDS.find(({ types, vendor, system }) => types.includes(group.deviceType) && (vendor?.test(group.vendor) ?? true) && (system?.test(group.system) ?? true));
    if (!kind) continue;
    const key = `${group.siteId} ${kind.persona}`;
    const one = found.get(key) ?? { kind, groups: [] };
    found.set(key, one);
    one.groups.push(group);
  }
  return [...found.values()].map(({ kind: { persona, label }, groups: own }) => ({
    siteId: own[0]?.siteId ?? "", persona, label, devices: own.reduce((sum, { devices }) => sum + devices, 0), block: commonBlock(own), groups: own,
  })).filter(({ devices }) => devices >= MIN_DEVICES)
    .toSorted((a, b) => (a.siteId === b.siteId ? b.devices - a.devices : a.siteId < b.siteId ? -1 : 1));
}

function commonBlock(groups: readonly DeviceGroup[]): string | null {
  const counts = new Map<string, number>();
  for (const { block, devices } of groups) counts.set(block, (counts.get(block) ?? 0) + devices);
  const [block = ""] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  // Of one host, and given to a maker: the two low bits of the first octet are 0.
  return /^[0-9a-f][048c](?::[0-9a-f]{2}){2}$/.test(block) ? block : null;
}

/**
 * A name as those of the devices: the next number of the most common series, as `nas-03` behind `nas-01` and `nas-02`.
 * @param fallback Where none has a number.
 */
export function nextName(hostnames: readonly string[], fallback: string): string {
  const series = new Map<string, { readonly count: number; readonly last: string }>();
  for (const hostname of hostnames) {
    const [name = ""] = hostname.split(".");
    const digits = name.length - name.replace(/\d{1,6}$/, "").length;
    const stem = name.slice(0, name.length - digits);
    if (digits === 0 || !/^[a-z][a-z0-9-]{0,48}$/i.test(stem)) continue;
    const before = series.get(stem);
    const number = name.slice(-digits);
    series.set(stem, { count: (before?.count ?? 0) + 1, last: before && Number(before.last) >= Number(number) ? before.last : number });
  }
  const [stem, most] = [...series].toSorted(([, a], [, b]) => b.count - a.count)[0] ?? [];
  return stem === undefined || !most ? fallback : `${stem}${String(Number(most.last) + 1).padStart(most.last.length, "0")}`;
}
