import type { ServiceModule } from "../../service-module.ts";
import { sitesRoutes } from "./routes.ts";
import { createSitesService } from "./service.ts";
import { createSitesStore } from "./store.ts";

/** Sites over the collector's database. */
export function openSites(
  deps: Omit<Parameters<typeof createSitesService>[0], "store"> & Parameters<typeof createSitesStore>[0],
): ServiceModule {
  return { name: "sites", mount: "gateway", routes: [sitesRoutes(createSitesService({ ...deps, store: createSitesStore(deps) }))] };
}
