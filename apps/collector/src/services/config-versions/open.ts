import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { createRetentionJob } from "../../jobs/job.ts";
import type { ServiceModule } from "../../service-module.ts";
import type { ConfigurationSettings } from "./configuration.ts";
import { configVersionsRoutes } from "./routes.ts";
import { createConfigVersionsService } from "./service.ts";
import { createConfigVersionsStore } from "./store.ts";
import { createTextWorker } from "./text-worker.ts";

const FORGET_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The configuration module over the collector's database, with its retention. */
export function openConfigVersions(
  { configurations: keep }: { readonly configurations: ConfigurationSettings },
  deps: Omit<Parameters<typeof createConfigVersionsService>[0], "store" | "worker"> & {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly clock: Clock; readonly logger: Log;
  },
): ServiceModule {
  const { clock } = deps;
  const store = createConfigVersionsStore(deps);
  const worker = createTextWorker({ clock, log: deps.logger });
  const retention = createRetentionJob({ clock, log: deps.logger }, {
    name: "configuration-retention", everyMs: FORGET_EVERY_MS, who: "one replica", what: "old configurations",
    run: () => store.forget(toInstant(clock.now() - keep.keep_days * DAY_MS)),
  });
  return {
    name: "configurations", mount: "cmod", retention: [retention], close: () => worker.close(),
    routes: [configVersionsRoutes(createConfigVersionsService({ ...deps, store, worker }, { keepVersions: keep.keep_versions }))],
  };
}
