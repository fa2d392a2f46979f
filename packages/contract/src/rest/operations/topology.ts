import { Topology, TopologyQuery } from "../topology.ts";
import { operations } from "../operation.ts";

/** How devices are linked. */
export const topologyOperations = operations({
  readTopology: { target: "GET /topology", query: TopologyQuery, status: 200, answer: Topology },
});
