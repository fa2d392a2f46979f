import type { Clock } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { ServiceModule } from "../../service-module.ts";
import { createChanges } from "./changes.ts";
import { createChangesStore } from "./changes-store.ts";
import { createMapPins } from "./pins.ts";
import { createPreferences } from "./preferences.ts";
import { workspaceRoutes } from "./routes.ts";
import { createWorkspaceStore } from "./store.ts";
import { createViews } from "./views.ts";

/** How people look at things: saved views, preferences, what changed since they looked last, and where they have put the nodes of a map. */
export function openWorkspace(deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
}): ServiceModule {
  const parts = { ...deps, store: createWorkspaceStore(deps) };
  const preferences = createPreferences(parts);
  return {
    name: "workspace", mount: "gateway",
    routes: [workspaceRoutes({
      views: createViews(parts), preferences, pins: createMapPins(parts), changes: createChanges({ store: createChangesStore(deps), preferences, clock: deps.clock }),
    })],
  };
}
