import type { ServiceModule } from "../../service-module.ts";
import { createCoverageService } from "./coverage.ts";
import { createGuardExceptions } from "./exceptions.ts";
import { createGuardLearning, type GuardLearning } from "./learning.ts";
import { createSiteNetworks, type SiteNetworks } from "./network-facts.ts";
import { guardsRoutes } from "./routes.ts";
import { createGuardsService, type GuardsDependencies, type GuardsService } from "./service.ts";
import { createGuardsStore } from "./store.ts";

/** The guards of sites. */
interface SiteGuardsModule extends ServiceModule, SiteNetworks, Pick<GuardsService, "partFor">, Pick<GuardLearning, "replied"> {}

/** The service module of the guards: `partFor` is for what probes are sent, `replied` for ingest, `networkFactsOf` and `networkLooksOf` for baselines. */
export function openGuards(
  deps: Omit<GuardsDependencies, "store"> & Parameters<typeof createGuardsStore>[0] & Omit<Parameters<typeof createGuardLearning>[0], "store">,
): SiteGuardsModule {
  const own = { ...deps, store: createGuardsStore(deps) };
  const [guards, exceptions, learning] = [createGuardsService(own), createGuardExceptions(own), createGuardLearning(own)];
  return {
    name: "guards", mount: "gateway", routes: [guardsRoutes({ guards, exceptions, learning, coverage: createCoverageService(own.store) })],
    partFor: (siteId) => guards.partFor(siteId), replied: (probe, reply) => learning.replied(probe, reply),
    ...createSiteNetworks(own.store),
  };
}
