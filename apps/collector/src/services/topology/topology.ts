import type { Topology } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { ServiceModule } from "../../service-module.ts";
import { neighborReaction } from "./neighbor-reaction.ts";
import { topologyRoutes } from "./routes.ts";
import { createTopologyService, type TopologyService } from "./service.ts";
import { createTopologyStore } from "./store.ts";
import { switchReaction } from "./switch-reaction.ts";

/** Topology, and what others use of it. */
export interface TopologyPart extends ServiceModule, Pick<TopologyService, "neighborsOf"> {
  /** A site's graph, with what is gone. */
  topologyOf(tenantId: string, siteId: string): Promise<Topology>;
}

/** The service module: routes, the reactions to neighbor and switch events, `neighborsOf` for device profiles, `topologyOf` for baselines. */
export function createTopology({ reads, clock }: { readonly reads: Kysely<Schema>; readonly clock: Clock }): TopologyPart {
  const service = createTopologyService({ store: createTopologyStore({ reads }), clock });
  return {
    name: "topology", mount: "gateway", routes: [topologyRoutes(service)],
    reactions: { neighbors: neighborReaction, switches: switchReaction }, neighborsOf: service.neighborsOf,
    topologyOf: async (tenantId, siteId) => (await service.read(tenantId, { site_id: siteId, include_gone: true })).topology,
  };
}
