import type { Projection } from "./projection.ts";

/** A port's state or service was learned. Texts that are empty now are so: the probe says the whole of what it sees. */
export const portFound: Projection<"port_found"> = {
  hosts: ({ data }) => [data],
  touches: "ports",
  apply({ data, occurred_at }, { set }) {
    const device = set.find(data);
    if (device) {
      const { port, protocol, state, service, version, banner, software } = data;
      set.setPort(device, { port, protocol, state, service, version, banner, last_scanned: occurred_at, software });
    }
    return { type: "port_found", deviceId: device?.id ?? null, data };
  },
};
