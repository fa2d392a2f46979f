import type { ServiceModule } from "../../service-module.ts";
import { createBaselineRoutes } from "./rest/rest.ts";

/** The service module of baselines. */
export function openBaselines(deps: Parameters<typeof createBaselineRoutes>[0]): ServiceModule {
  return { name: "baselines", mount: "gateway", routes: createBaselineRoutes(deps) };
}
