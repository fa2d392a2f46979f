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
