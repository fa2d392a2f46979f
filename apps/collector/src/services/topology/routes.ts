import { topologyOperations } from "@lanthorn/contract";
import { identityOf } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { TopologyService } from "./service.ts";

const { endpoint, routes } = endpointsOf<Pick<TopologyService, "read">>();

/** `/topology`. */
export const topologyRoutes = routes(
  endpoint("devices:read", topologyOperations.readTopology, {
    summary: "Read how devices are linked",
    description: "Nodes are probes, devices and neighbors that are no known device; an edge is a cable, as the machine at its far end "
    + "announces it by LLDP, CDP, EDP, FDP or SONMP. `matched_by` and `confidence` say how a neighbor was matched to a device; "
    + "`notes` say what cannot be seen. With `If-None-Match` an answer that has not changed is 304.",
    answer: "The graph", also: { 304: { description: "Nothing has changed" } },
  }, async (c, service) => {
    const { topology, etag } = await service.read(identityOf(c).tenantId, c.req.valid("query"));
    c.header("etag", etag);
    c.header("cache-control", "private, max-age=5");
    return c.req.header("if-none-match") === etag ? c.body(null, 304) : c.json(topology, 200);
  }),
);
