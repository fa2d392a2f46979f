import type { Evidence } from "@lanthorn/contract";
import { keysOf } from "../../identity/keys.ts";
import type { HostRef } from "../devices/devices-draft.ts";
import { describedSoftware } from "./host-software.ts";
import type { Projection } from "./projection.ts";

const CONFIDENCE = 0.9;
/** A table of who was spoken to: the entry may be hours old, and anybody's who asked. */
const ADDRESS_CONFIDENCE = 0.3;
const MAX_ADDRESSES = 256;
/** Of its MACs, the bridge's and the first ports'. */
const MAX_OWN = 8;
const PORTS_OF_A_SWITCH = 3;

/**
 * A switch is one of the devices, where one of them has one of its MACs. Who it has spoken to gets a weak word about its address,
 * and nobody is online by it.
 */
export const switchReport: Projection<"switch_report"> = {
  hosts: ({ data: { ip, macs, addresses } }) => [
    askedAt(ip), ...ownRefs(macs), ...addresses.slice(0, MAX_ADDRESSES).map(({ mac }) => ({ ip: "", mac })),
  ],
  touches: "software",
  apply({ data, occurred_at }, { set }) {
    const at = occurred_at;
    const word = (field: string, value: string, source: string, confidence: number): Evidence[] =>
      value === "" ? [] : [{ field, value, source, confidence, seen_at: at }];
    const devices = [...new Set(ownRefs(data.macs).flatMap((ref) => set.find(ref) ?? []))];
    const isSwitch = data.ports.filter(({ mac_count: count }) => count > 0).length >= PORTS_OF_A_SWITCH;
    for (const device of devices) {
      set.addKeys(device, keysOf({ mac: data.macs[0] ?? "", evidence: word("snmp_engine_id", data.engine_id, "snmp", CONFIDENCE) }), at);
      set.addEvidence(device, [
        ...word("system_name", data.system_name, "snmp", CONFIDENCE),
        ...word("system_description", data.system_description, "snmp", CONFIDENCE),
        ...word("device_type", isSwitch ? "switch" : "", "snmp", 0.7),
      ]);
    }
    for (const device of devices) set.setSoftware(device, describedSoftware(data.system_description, "snmp"), at);
    for (const { ip, mac } of data.addresses.slice(0, MAX_ADDRESSES)) {
      const device = set.find({ ip: "", mac });
      if (device) set.addEvidence(device, word("address", ip, "snmp-arp", ADDRESS_CONFIDENCE));
    }
    return { type: "switch_report", deviceId: (devices[0] ?? set.find(askedAt(data.ip)))?.id ?? null, data };
  },
};

/** Of one that does not answer, no more is known. */
function askedAt(ip: string): HostRef {
  return { ip, mac: "" };
}

function ownRefs(macs: readonly string[]): readonly HostRef[] {
  return macs.slice(0, MAX_OWN).map((mac) => ({ ip: "", mac }));
}
