import type { NeighborDiscovered, NeighborMatch } from "@lanthorn/contract";

/** A device as far as neighbors are compared with it. */
export interface Candidate {
  readonly id: string;
  readonly hostname: string;
}

/** The devices of one site, by what neighbors say of themselves. */
export interface CandidateIndex {
  readonly byMac: ReadonlyMap<string, Candidate>;
  /** Keys as `keyText` spells them. */
  readonly byKey: ReadonlyMap<string, readonly Candidate[]>;
  /** By an address that they have now. */
  readonly byIp: ReadonlyMap<string, readonly Candidate[]>;
  /** By `shortName`. */
  readonly byName: ReadonlyMap<string, readonly Candidate[]>;
}

/** The device that a neighbor is, and the strongest identifier that says so. */
export interface Match {
  readonly device: Candidate;
  readonly by: NeighborMatch;
  /** 0 to 1. */
  readonly confidence: number;
}

/** What a name or an address says is only as good as nobody else's: a factory's name and a virtual address are many machines'. */
export const CONFIDENCE: Readonly<Record<NeighborMatch, number>> = {
  "chassis-mac": 1, "source-mac": 1, "chassis-id": 0.95, "management-address": 0.85, "system-name": 0.5,
  "interface-mac": 0.95,
};

/** Names that machines have when nobody gave them one. */
const FACTORY_NAMES: ReadonlySet<string> = new Set([
  "switch", "router", "localhost", "gateway", "ap", "phone", "printer", "server", "bridge", "ubnt", "mikrotik", "openwrt", "debian",
  "ubuntu", "raspberrypi", "linux", "switch1", "unknown", "none", "default", "not", "system", "host", "procurve", "arubaos",
]);

/**
 * Finds the device that a neighbor is.
 * @returns Null where there is none, or where what it says fits several equally.
 */
export function matchNeighbor(data: NeighborDiscovered, index: CandidateIndex): Match | null {
  const byChassis = data.chassis_id_type === "mac" ? index.byMac.get(data.chassis_id) : undefined;
  if (byChassis) return matched(byChassis, "chassis-mac");
  const bySource = data.source_mac === undefined ? undefined : index.byMac.get(data.source_mac);
  if (bySource) return matched(bySource, "source-mac");
  const byKey = only(index.byKey.get(chassisKeyText(data)));
  if (byKey) return matched(byKey, "chassis-id");
  const atAddress = new Map(data.management_addresses.flatMap((ip) => index.byIp.get(ip) ?? []).map((device) => [device.id, device]));
  const byAddress = only([...atAddress.values()]);
  if (byAddress) return matched(byAddress, "management-address");
  // Addresses that several devices have speak against a guess by name.
  const byName = atAddress.size > 0 ? undefined : only(index.byName.get(shortName(data.system_name)));
  return byName ? matched(byName, "system-name") : null;
}

/** The chassis id as a key of a device. */
export function chassisKeyText({ chassis_id: id }: NeighborDiscovered): string {
  return `lldp_chassis_id ${id}`;
}

/** A name without its domain, to be compared; empty for one that says nothing. */
export function shortName(name: string): string {
  const short = (name.toLowerCase().split(".")[0] ?? "").trim();
  return short.length < 3 || FACTORY_NAMES.has(short) ? "" : short;
}

function matched(device: Candidate, by: NeighborMatch): Match {
  return { device, by, confidence: CONFIDENCE[by] };
}

function only(devices: readonly Candidate[] | undefined): Candidate | undefined {
  return devices?.length === 1 ? devices[0] : undefined;
}
