import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Reaction } from "../../events/reaction.ts";
import { CollectorError } from "../../errors.ts";
import type { Audit } from "../../gateway/audit.ts";
import { ApiError } from "../../gateway/errors.ts";
import { createJob, createRetentionJob, type Job } from "../../jobs/job.ts";
import type { ServiceModule } from "../../service-module.ts";
import type { FetchFile } from "../../sources/fetch-source.ts";
import { createSourceHealth } from "../../sources/source-health.ts";
import { createDueUpdates } from "../../sources/update-due.ts";
import { publishSiteBundles, type PublishBundle } from "./bundles/site-bundles.ts";
import { createSiteBundlesStore } from "./bundles/store.ts";
import { createCountsStore } from "./noise/counts-store.ts";
import { createOverridesService } from "./noise/overrides.ts";
import { createIdsReaction } from "./noise/reaction.ts";
import { createStatsService } from "./noise/stats.ts";
import { createNetworksService } from "./networks/service.ts";
import { createNetworksStore } from "./networks/store.ts";
import { createNoiseStore, readDeviceAddresses } from "./noise/store.ts";
import { createSuppressionsService } from "./noise/suppressions.ts";
import { idsRoutes, rulesetsRoutes } from "./routes.ts";
import { createRulesService } from "./rules-service.ts";
import { createRulesThread, type RulesThread } from "./rules/rules-thread.ts";
import { createRulesetsService } from "./rulesets/service.ts";
import { createVersionsService } from "./rulesets/versions.ts";
import { createRulesetsStore } from "./rulesets/store.ts";
import { updateRuleset } from "./rulesets/update-ruleset.ts";
import { createSupportService, readIdsStates } from "./support.ts";
import { createTrialsService, type StoredCaptures } from "./trials/service.ts";
import { createTrials } from "./trials/trials.ts";

/** Rules of intrusion detection, what people say of them, and the bundles that probes get. */
export interface Ids extends ServiceModule {
  readonly reaction: Reaction<"ids_alert">;
  /** Asks the sources of rule sets that are due. */
  readonly updates: Job;
  /** Makes bundles of what has changed. */
  readonly bundling: Job<number>;
}

const LOOK_EVERY_MS = 15_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Counts of signatures. */
const KEEP_DAYS = 90;

/**
 * @param deps.events See `EventLog`. @param deps.published After events were committed.
 * @param deps.captures Stored captures on which rules are tried. @param deps.fetchFile See `FetchFile`. @param deps.publish Signs and keeps a site's bundle.
 * @param deps.onPublished After a site's probes were given other rules.
 */
export function openIds({ data_dir: dataDir, feeds: { alert_after_hours: alertAfterHours } = { alert_after_hours: 48 } }: {
  readonly data_dir: string; readonly feeds?: { readonly alert_after_hours: number };
}, deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly audit: Audit; readonly clock: Clock; readonly log: Log;
  readonly events: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
  readonly captures: StoredCaptures; readonly fetchFile: FetchFile; readonly publish: PublishBundle; readonly onPublished: (siteId: string) => Promise<void>; readonly random?: () => number;
}): Ids {
  const { reads, audit, clock, log } = deps;
  const directory = join(dataDir, "ids-rules");
  const store = createRulesetsStore(deps);
  const [noise, counts, siteBundles] = [createNoiseStore(deps), createCountsStore(deps), createSiteBundlesStore(deps)];
  const thread = createRulesThread({ clock, log, load: (ref) => store.content(ref) });
  const health = createSourceHealth({ ...deps, store, what: { feed: "ids-rules", title: "Rules" }, alertAfterMs: alertAfterHours * HOUR_MS });
  const trials = createTrials({ clock, log });
  const asked: Pick<RulesThread, "ask"> = {
    ask: (...question) => thread.ask(...question).catch((cause: unknown) => {
      throw cause instanceof CollectorError ? new ApiError("SERVICE_UNAVAILABLE", "the rules could not be read now; try again in some seconds", { cause }) : cause;
    }),
  };
  const bundling = createJob({ clock, log }, {
    name: "ids-bundles", everyMs: LOOK_EVERY_MS, who: "one replica", failure: "bundles of rules could not be made, trying again in some seconds",
    run: (stopped) => publishSiteBundles({ ...deps, store: siteBundles, devicesOf: (rows) => readDeviceAddresses(reads, rows), addressesOf: networks.variablesOf, rulesets: store, noise, thread }, stopped),
  });
  const onChanged = () => void bundling.runSoon();
  const networks = createNetworksService({ store: createNetworksStore(deps), noise, audit, onChanged });
  const due = createDueUpdates({
    due: () => store.due(toInstant(clock.now())), look: () => health.check(), clock, lookEveryMs: LOOK_EVERY_MS,
    update: (row, stopped) => updateRuleset({ ...deps, store, thread, random: deps.random ?? Math.random, directory, onChanged }, row, stopped),
  });
  const onDue = () => {
    due.wake();
    void updates.runSoon();
  };
  const updates = createJob({ clock, log }, {
    name: "ids-rulesets", everyMs: LOOK_EVERY_MS, who: "one replica", failure: "rule sets could not be updated, trying again in some seconds",
    async run(stopped) {
      mkdirSync(directory, { recursive: true, mode: 0o750 });
      await due.run(stopped);
      await health.check();
    },
  });
  const reaction = createIdsReaction({ store: noise, clock });
  const overrides = createOverridesService({ store: noise, audit, clock, onChanged });
  const versions = createVersionsService({ store, thread: asked, audit, clock, onChanged });
  const services = {
    versions, networks,
    overrides, rules: createRulesService({ rulesets: store, noise, counts, thread: asked }), stats: createStatsService({ counts, store: noise, clock }),
    rulesets: createRulesetsService({ store, thread: asked, audit, clock, onFirst: overrides.addFirst, onGone: health.end, published: deps.published, onChanged, onDue }),
    suppressions: createSuppressionsService({ store: noise, audit, clock, probeStates: (tenantId) => readIdsStates(reads, tenantId), onChanged }),
    trials: createTrialsService({ trials, rulesets: store, noise, thread: asked, captures: deps.captures, addressesOf: networks.variablesOf }),
    support: createSupportService({ reads, rulesets: store, noise, thread: asked, bundles: siteBundles }),
  };
  return {
    name: "ids", mount: "gateway", routes: [rulesetsRoutes(services), idsRoutes(services)], reaction, updates, bundling, jobs: [updates, bundling],
    retention: [createRetentionJob({ clock, log }, {
      name: "ids-counts", what: "old counts of signatures", everyMs: DAY_MS, who: "one replica",
      run: () => counts.forgetBefore(toInstant(clock.now() - KEEP_DAYS * DAY_MS).slice(0, 10)),
    })],
    reactions: { intrusions: reaction },
    async close() {
      await trials.close();
      await thread.close();
    },
  };
}
