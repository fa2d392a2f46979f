import type { Clock } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { topologyRoutes } from "./routes.ts";
import { createTopologyService, type TopologyService } from "./service.ts";
import { createTopologyStore } from "./store.ts";

/** The routes, and what device profiles show of it. */
export interface TopologyPart extends Pick<TopologyService, "neighborsOf"> {
  readonly routes: ReturnType<typeof topologyRoutes>;
}

export function createTopology({ reads, clock }: { readonly reads: Kysely<Schema>; readonly clock: Clock }): TopologyPart {
  const service = createTopologyService({ store: createTopologyStore({ reads }), clock });
  return { neighborsOf: service.neighborsOf, routes: topologyRoutes(service) };
}
