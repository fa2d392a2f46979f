import type { Clock } from "@lanthorn/runtime";
import { createHealthHistory, type HealthHistory } from "./health-history.ts";
import type { ServiceModule } from "../../service-module.ts";
import { agentMetrics } from "./metrics.ts";
import { agentsRoutes } from "./routes.ts";
import { type AgentsService, createAgentsService } from "./service.ts";
import { createSettingsService, type SettingsService } from "./settings-service.ts";
import { createAgentsStore } from "./store.ts";

type ServiceDependencies = Parameters<typeof createAgentsService>[0];
type SettingsDependencies = Parameters<typeof createSettingsService>[0];

/** The agent registry. */
interface Agents extends ServiceModule {
  readonly admit: AgentsService["admit"];
  /** What ingest asks and tells it. */
  readonly registry: Pick<SettingsService, "configurationOf"> & Pick<HealthHistory, "heard">;
}

/** The service module of the agent registry: `admit` is for listeners and the broker, `registry` for ingest. */
export function openAgents(
  deps: Omit<ServiceDependencies, "store"> & SettingsDependencies & {
    readonly clock: Clock;
    /** Also hears how a probe's decoys are. Must not reject. */
    readonly decoys: Pick<HealthHistory, "heard">;
  },
): Agents {
  const store = createAgentsStore(deps);
  const settings = createSettingsService(deps);
  const history = createHealthHistory({ db: deps.db, clock: deps.clock, logger: deps.log });
  const service = createAgentsService({ ...deps, store });
  return {
    name: "agents", mount: "agents", routes: [agentsRoutes({ service, settings })], retention: [history.job],
    metrics: agentMetrics(deps.reads), admit: service.admit,
    registry: {
      configurationOf: settings.configurationOf,
      async heard(probe, health) {
        await history.heard(probe, health);
        await deps.decoys.heard(probe, health);
      },
    },
  };
}
