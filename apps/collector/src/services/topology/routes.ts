import { Topology, TopologyQuery } from "@lanthorn/contract";
import { identityOf } from "../../gateway/environment.ts";
import { createRouter, declareRoute, json } from "../../gateway/route.ts";
import type { TopologyService } from "./service.ts";

const read = declareRoute("devices:read", {
  method: "get",
  path: "/topology",
  operationId: "readTopology",
  summary: "Read how devices are linked",
  description: "Nodes are probes, devices and neighbors that are no known device; an edge is a cable, as the machine at its far end "
    + "announces it by LLDP, CDP, EDP, FDP or SONMP. `matched_by` and `confidence` say how a neighbor was matched to a device; "
    + "`notes` say what cannot be seen. With `If-None-Match` an answer that has not changed is 304.",
  request: { query: TopologyQuery },
  responses: { 200: { description: "The graph", content: json(Topology) }, 304: { description: "Nothing has changed" } },
});

/** `/topology`. */
export function topologyRoutes(service: Pick<TopologyService, "read">) {
  const router = createRouter();
  router.openapi(read, async (c) => {
    const { topology, etag } = await service.read(identityOf(c).tenantId, c.req.valid("query"));
    c.header("etag", etag);
    c.header("cache-control", "private, max-age=5");
    return c.req.header("if-none-match") === etag ? c.body(null, 304) : c.json(topology, 200);
  });
  return router;
}
