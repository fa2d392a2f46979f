import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import { createJob, createRetentionJob, type Job } from "../../jobs/job.ts";
import type { ServiceModule } from "../../service-module.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import type { FetchFile } from "../../sources/fetch-source.ts";
import { createSourceHealth } from "../../sources/source-health.ts";
import { createDueUpdates } from "../../sources/update-due.ts";
import { type PublishBundle, publishSiteBundles } from "./bundles/site-bundles.ts";
import { createSiteBundlesStore } from "./bundles/store.ts";
import { createCheckService } from "./check.ts";
import { createListsService } from "./lists/service.ts";
import { createListsStore } from "./lists/store.ts";
import type { ZoneFetchDependencies } from "./transfers/fetch-zone.ts";
import { removeStrayZones, removeZone } from "./transfers/zone-files.ts";
import { createVersionsService } from "./lists/versions.ts";
import { updateList } from "./lists/update-list.ts";
import { createNamesThread } from "./names/names-thread.ts";
import { createDecisionsService } from "./policies/decisions.ts";
import { createPoliciesService } from "./policies/policies.ts";
import { createPoliciesStore } from "./policies/store.ts";
import { forgetQueries } from "./queries/forget-queries.ts";
import { createQueriesReaction } from "./queries/reaction.ts";
import { createQueriesService } from "./queries/service.ts";
import { createQuerySettingsService } from "./queries/settings.ts";
import { createQuerySettingsStore } from "./queries/settings-store.ts";
import { createQueriesStore } from "./queries/store.ts";
import { dnsRoutes, listsRoutes, policiesRoutes, queriesRoutes } from "./routes.ts";

/** Names that resolvers block: lists, policies, what people allow, and the bundles that probes get. */
export interface Dns extends ServiceModule {
  /** Asks the sources of lists that are due. */
  readonly updates: Job;
  /** Makes bundles of what has changed. */
  readonly bundling: Job<number>;
}

const LOOK_EVERY_MS = 15_000;
const HOUR_MS = 3_600_000;

/**
 * @param deps.events See `EventLog`. @param deps.published After events were committed.
 * @param deps.fetchFile See `FetchFile`. @param deps.addressesOf Of a server that gives a zone, where the deployment allows to ask it. @param deps.publish Signs and keeps a site's bundle.
 * @param deps.onPublished After a site's probes were given other lists or policies.
 */
export function openDns({ data_dir: dataDir, feeds: { alert_after_hours: alertAfterHours } = { alert_after_hours: 48 }, dns: { keep_query_days: keepDays } = { keep_query_days: 7 } }: {
  readonly data_dir: string; readonly feeds?: { readonly alert_after_hours: number }; readonly dns?: { readonly keep_query_days: number };
}, deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly audit: Audit; readonly clock: Clock; readonly log: Log;
  readonly events: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
  readonly sealing: Sealing; readonly fetchFile: FetchFile; readonly addressesOf: ZoneFetchDependencies["addressesOf"]; readonly publish: PublishBundle; readonly onPublished: (siteId: string) => Promise<void>; readonly random?: () => number;
}): Dns {
  const { audit, clock, log } = deps;
  const directory = join(dataDir, "dns-lists");
  const [lists, policies, bundles, querySettings] = [createListsStore(deps), createPoliciesStore(deps), createSiteBundlesStore(deps), createQuerySettingsStore(deps)];
  const thread = createNamesThread({ clock, log });
  const health = createSourceHealth({ ...deps, store: lists, what: { feed: "dns-list", title: "Block list" }, alertAfterMs: alertAfterHours * HOUR_MS });
  const bundling = createJob({ clock, log }, {
    name: "dns-bundles", everyMs: LOOK_EVERY_MS, who: "one replica", failure: "bundles of block lists could not be made, trying again in some seconds",
    run: (stopped) => publishSiteBundles({ ...deps, store: bundles, lists, policies, querySettings }, stopped),
  });
  const onChanged = () => void bundling.runSoon();
  const protectedNames = async (tenantId: string) =>
    (await policies.decisions(null, tenantId, toInstant(clock.now()))).filter(({ kind }) => kind === "protect").map(({ name }) => name);
  const due = createDueUpdates({
    due: () => lists.due(toInstant(clock.now())), look: () => health.check(), clock, lookEveryMs: LOOK_EVERY_MS,
    update: (row, stopped) => updateList({ ...deps, store: lists, thread, random: deps.random ?? Math.random, directory, protectedNames, onChanged }, row, stopped),
  });
  const onDue = () => {
    due.wake();
    void updates.runSoon();
  };
  const strayZones = createRetentionJob({ clock, log }, {
    name: "dns-zones-retention", everyMs: HOUR_MS, atStart: true, who: "each replica", what: "zones of lists that are gone", run: () => removeStrayZones(directory, lists.existing),
  });
  const updates = createJob({ clock, log }, {
    name: "dns-lists", everyMs: LOOK_EVERY_MS, who: "one replica", failure: "block lists could not be updated, trying again in some seconds",
    async run(stopped) {
      mkdirSync(directory, { recursive: true, mode: 0o750 });
      await due.run(stopped);
      await health.check();
    },
  });
  const check = createCheckService({ lists, policies, querySettings, thread, clock });
  const policiesService = createPoliciesService({ store: policies, audit, clock, onChanged, listExists: async (trx, tenantId, id) => (await lists.byId(trx, tenantId, id)) !== null });
  const queries = createQueriesStore(deps);
  const forgetting = createRetentionJob({ clock, log }, {
    name: "dns-queries-retention", everyMs: HOUR_MS, who: "one replica", what: "old DNS queries",
    run: (stopped) => forgetQueries({ store: queries, settings: querySettings, keepDays, clock }, stopped),
  });
  const services = {
    check, bundles, queries: createQueriesService({ store: queries, clock }), querySettings: createQuerySettingsService({ store: querySettings, audit, clock, onChanged }), policies: policiesService, versions: createVersionsService({ store: lists, audit, clock, onChanged }),
    lists: createListsService({
      ...deps, store: lists, thread, protectedNames, onFirst: policiesService.addFirst, onGone: health.end, published: deps.published, onChanged, onDue, forgetZone: (id) => removeZone(directory, id),
    }),
    decisions: createDecisionsService({ store: policies, audit, clock, onChanged, blockedName: check.blockedName }),
  };
  return {
    name: "dns", mount: "gateway", routes: [listsRoutes(services), policiesRoutes(services), dnsRoutes(services), queriesRoutes(services)], updates, bundling, jobs: [updates, bundling], retention: [forgetting, strayZones],
    reactions: { queries: createQueriesReaction({ keepDays }) },
    close: () => thread.close(),
  };
}
