import type { OpenAPIHono } from "@hono/zod-openapi";
import type { GatewayEnvironment } from "../../../gateway/environment.ts";
import { createBaselinesStore, type From } from "../store/handles.ts";
import { createAcceptancesService } from "./acceptances.ts";
import { createBaselineEditor } from "./change-baselines.ts";
import type { RestDependencies } from "./dependencies.ts";
import { createDifferencesService } from "./differences.ts";
import { createBaselineJudge } from "./judge-baselines.ts";
import { createBaselineReader } from "./read-baselines.ts";
import { baselinesRoutes } from "./routes.ts";
import { settingsRoutes } from "./settings-routes.ts";
import { createTemplatesService } from "./templates.ts";
import { createWindowsService } from "./windows.ts";

/** What people read and change of baselines. Fixed names come before ids. */
export function createBaselineRoutes(
  deps: Omit<RestDependencies, "store"> & { readonly db: From; readonly reads: From },
): readonly OpenAPIHono<GatewayEnvironment>[] {
  const own = { ...deps, store: createBaselinesStore(deps) };
  const acceptances = createAcceptancesService(own);
  const [differences, templates, windows] = [createDifferencesService({ ...own, acceptances }), createTemplatesService(own), createWindowsService(own)];
  return [
    settingsRoutes({ differences, acceptances, templates, windows }),
    baselinesRoutes({ reader: createBaselineReader(own), editor: createBaselineEditor(own), judge: createBaselineJudge(own) }),
  ];
}
