import type { Evidence, NeighborDiscovered } from "@lanthorn/contract";
import { readNeighbor } from "@lanthorn/fingerprints";
import { describedSoftware } from "./host-software.ts";
import { type IdentityKey, keysOf } from "../../identity/keys.ts";
import type { HostRef } from "../devices/devices-draft.ts";
import type { Projection } from "./projection.ts";

/** Names that one machine has and no other; an interface's name or an address is none. */
const NAMES_A_MACHINE: ReadonlySet<string | undefined> = new Set(["mac", "component", "local"]);

/** Told by the neighbor itself, by a protocol that no switch passes on. */
const CONFIDENCE = 0.9;

/**
 * A neighbor is one of the devices, where one of them has its chassis' MAC or the MAC that it sends from: it is named in the log, and its
 * chassis id becomes one of that device's keys, by which its other ports are known to be the same machine's.
 */
export const neighborDiscovered: Projection<"neighbor_discovered"> = {
  hosts: ({ data }) => interfacesOf(data),
  touches: "software",
  apply({ data, occurred_at }, { set }) {
    const at = occurred_at;
    const devices = [...new Set(interfacesOf(data).flatMap((ref) => set.find(ref) ?? []))];
    const keys = chassisKeys(data);
    for (const device of devices) {
      set.addKeys(device, keys, at);
      set.addEvidence(device, evidenceOf(data, at));
      set.setSoftware(device, describedSoftware(data.system_description, data.protocol), at);
    }
    return { type: "neighbor_discovered", deviceId: devices[0]?.id ?? null, data };
  },
};

/** The key that a chassis shows, as `device_keys` has it. CDP's device id is a host name, which is none. */
export function chassisKeys(data: NeighborDiscovered): readonly IdentityKey[] {
  if (data.protocol !== "lldp" || !NAMES_A_MACHINE.has(data.chassis_id_type)) return [];
  return keysOf({
    mac: data.source_mac ?? "",
    evidence: [{ field: "lldp_chassis_id", value: data.chassis_id, source: "lldp", confidence: CONFIDENCE, seen_at: "" }],
  });
}

/** The chassis' own MAC first. */
function interfacesOf({ chassis_id: chassis, chassis_id_type: type, source_mac: source }: NeighborDiscovered): readonly HostRef[] {
  const macs = [...(type === "mac" ? [chassis] : []), ...(source === undefined ? [] : [source])];
  return [...new Set(macs)].map((mac) => ({ ip: "", mac }));
}

function evidenceOf(data: NeighborDiscovered, seenAt: string): Evidence[] {
  const { protocol: source } = data;
  const texts: readonly (readonly [field: string, value: string | undefined])[] = [
    ["lldp_chassis_id", source === "lldp" && NAMES_A_MACHINE.has(data.chassis_id_type) ? data.chassis_id : ""],
    ["system_name", data.system_name], ["system_description", data.system_description], ["platform", data.platform],
  ];
  const said = readNeighbor({
    protocol: source, capabilities: data.capabilities, systemDescription: data.system_description, platform: data.platform ?? "",
  });
  return [
    ...texts.flatMap(([field, value = ""]) => (value === "" ? [] : [{ field, value, source, confidence: CONFIDENCE, seen_at: seenAt }])),
    ...said.map((claim) => ({ ...claim, seen_at: seenAt })),
  ];
}
