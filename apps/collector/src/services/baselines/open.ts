import type { ServiceModule } from "../../service-module.ts";

/** The service module of baselines. */
export function openBaselines(): ServiceModule {
  return { name: "baselines", mount: "gateway", routes: [] };
}
