import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { createRetentionJob } from "../../jobs/job.ts";
import type { ServiceModule } from "../../service-module.ts";
import { type CountriesTaker, createCountriesTaker, type PublishCountries } from "./countries/take-countries.ts";
import { type AskProbe, createLearnedService } from "./learned.ts";
import { createAnomaliesReaction } from "./reaction.ts";
import { anomaliesRoutes } from "./routes.ts";
import { type AnomaliesService, type CapturesOf, createAnomaliesService } from "./service.ts";
import { createAnomaliesStore } from "./store.ts";

/** Behavior of devices that is not usual: `partFor` is for what probes are sent. */
export interface Anomalies extends ServiceModule, Pick<AnomaliesService, "partFor"> {
  /** Takes what registries publish of who has which addresses. */
  readonly takeCountries: CountriesTaker["take"];
}

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

/** @param options.keepDays How long anomalies are kept. */
export function openAnomalies(deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly audit: Audit; readonly clock: Clock; readonly log: Log; readonly onConfigured: (siteId: string) => Promise<void>;
  readonly resolveAlert: (actor: Actor, alertId: string) => Promise<unknown>; readonly ask: AskProbe; readonly capturesOf: CapturesOf; readonly publishCountries: PublishCountries;
}, options: { readonly keepDays: number }): Anomalies {
  const { clock, log } = deps;
  const store = createAnomaliesStore(deps);
  const anomalies = createAnomaliesService({ ...deps, store });
  const countries = createCountriesTaker({ clock, log, publish: deps.publishCountries });
  return {
    name: "anomalies", mount: "gateway", routes: [anomaliesRoutes({ anomalies, learned: createLearnedService({ ...deps, store }) })], reactions: { anomalies: createAnomaliesReaction({ store, clock }) }, partFor: anomalies.partFor, takeCountries: countries.take,
    close: countries.close,
    retention: [createRetentionJob({ clock, log }, {
      name: "anomalies-retention", everyMs: HOUR_MS, who: "one replica", what: "old anomalies", run: () => store.forget(toInstant(clock.now() - options.keepDays * DAY_MS)),
    })],
  };
}
