import type { Projection } from "./projection.ts";

/** Who asked for which names is kept by the service of DNS alone, for as long as its settings say: the log has the numbers. */
export const dnsQueries: Projection<"dns_queries"> = {
  hosts: () => [],
  apply: ({ data }) => ({ type: "dns_queries", deviceId: null, data, logged: { ...data, rows: [] } }),
};
