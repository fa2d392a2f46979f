import type { EventData } from "@lanthorn/contract";
import { readAnswer, readHostSoftware } from "@lanthorn/fingerprints";
import type { Projection } from "./projection.ts";

/** What a host itself runs was learned or changed. */
export const hostSoftware: Projection<"host_software"> = {
  hosts: ({ data }) => [data],
  touches: "software",
  apply({ data, occurred_at }, { set }) {
    const device = set.find(data);
    if (device) set.setSoftware(device, data.software, occurred_at);
    return { type: "host_software", deviceId: device?.id ?? null, data };
  },
};

/** What a device's description of itself says of its software: LLDP and CDP announce the text that SNMP has in sysDescr. */
export function describedSoftware(description: string, source: string): EventData<"host_software">["software"] {
  return readHostSoftware(readAnswer("snmp-description", description)).slice(0, 1).map((software) => ({ ...software, source }));
}
