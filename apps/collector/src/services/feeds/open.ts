import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { readPem } from "../../data-dir.ts";
import { hasRowLocks } from "../../db/row-locks.ts";
import type { Schema } from "../../db/schema.ts";
import { createHostResolver, type ResolveHost } from "../../deliveries/sending/resolve.ts";
import { createTargetPolicy } from "../../deliveries/sending/target-policy.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import { createJob } from "../../jobs/job.ts";
import type { ServiceModule } from "../../service-module.ts";
import type { FeedSettings } from "./configuration.ts";
import type { ConsumeFeeds, FeedDefinition, FeedSubject, LoadedData } from "./definition.ts";
import { createFeedClient } from "./fetching/client.ts";
import { download } from "./fetching/download.ts";
import { parseProxy } from "./fetching/tunnel.ts";
import { createFeedHealth } from "./health.ts";
import { feedMetrics } from "./metrics.ts";
import { cveUpdateRoutes } from "./routes.ts";
import { createFeedManager, type FeedManager } from "./running/manager.ts";
import { createCveUpdatesService } from "./service.ts";
import { createReplicaHealth } from "./replica-health.ts";
import { configureFeeds, namedHosts, unknownSources } from "./source.ts";
import { createFeedsStore } from "./store.ts";
import { FEEDS } from "./table.ts";

/** Feeds, and what runs them. */
export interface Feeds extends ServiceModule {
  readonly manager: FeedManager;
  /** Downloads a file for whoever it is, as feeds are downloaded. @throws FeedFailure */
  readonly fetchFile: (request: Parameters<typeof download>[1]) => ReturnType<typeof download>;
  /** The addresses of a server that sources of other kinds name. @throws FeedFailure where the deployment does not allow one of them. */
  readonly addressesOf: (url: URL) => Promise<readonly string[]>;
  /** Looks at once at how the feeds are. */
  readonly checkHealth: () => Promise<void>;
  /** Looks at once at how this collector's copy of what they make is. */
  readonly checkReplica: () => Promise<void>;
}

/** What feeds need. What is left out is the machine's own. */
export interface FeedsDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly logger: Log;
  readonly version: string;
  readonly operatorTenant: () => Promise<string | null>;
  readonly consumers: Readonly<Partial<Record<FeedSubject, ConsumeFeeds>>>;
  /** What the consumer of CVEs has; null while it has nothing, and where that was lost. */
  readonly loaded: () => LoadedData | null;
  /** Takes what another collector has made of it. */
  readonly refresh?: () => Promise<void>;
  readonly random?: () => number;
  readonly resolve?: ResolveHost;
  readonly pause?: (ms: number, stop: AbortSignal) => Promise<void>;
  readonly table?: readonly FeedDefinition[];
  readonly host?: string;
}

const LOOK_EVERY_MS = 15_000;
const OWN_EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The service module of downloaded data. Nothing runs before its job is started. */
export function openFeeds({ data_dir: dataDir, feeds: settings }: { readonly data_dir: string; readonly feeds: FeedSettings }, deps: FeedsDependencies): Feeds {
  const { clock, logger, operatorTenant, table = FEEDS, random = Math.random } = deps;
  const store = createFeedsStore(deps);
  const feeds = configureFeeds(table, settings);
  for (const name of unknownSources(table, settings)) logger.warn({ feed: name }, "feeds.sources names a feed that there is not");
  const client = createFeedClient({
    clock, policy: createTargetPolicy(namedHosts(settings)), resolve: deps.resolve ?? createHostResolver(deps), userAgent: `Lanthorn/${deps.version}`,
  }, { ca: settings.ca_file === undefined ? null : [readPem(settings.ca_file)], proxy: settings.proxy === undefined ? null : parseProxy(settings.proxy) });
  const alertAfterMs = settings.alert_after_hours * HOUR_MS;
  const manager = createFeedManager({
    ...deps, store, client, random, pause: deps.pause ?? pauseOn(clock), refresh: deps.refresh ?? (() => Promise.resolve()), directory: settings.directory ?? join(dataDir, "feeds"),
    apiKey: settings.nvd_api_key ?? null,
  }, { feeds, operatorTenant, isAlone: !hasRowLocks(deps.db) });
  const health = createFeedHealth({ ...deps, store }, { feeds, alertAfterMs, operatorTenant });
  const job = createJob({ clock, log: logger }, {
    name: "feeds", everyMs: LOOK_EVERY_MS, who: "one replica", failure: "updates of feeds could not be started, trying again in some seconds",
    async run() {
      await manager.tick();
      await health.check();
    },
  });
  const replicaHealth = createReplicaHealth({ ...deps, store }, { host: deps.host ?? hostname(), alertAfterMs, operatorTenant });
  const own = createJob({ clock, log: logger }, {
    name: "feeds-of-replica", everyMs: OWN_EVERY_MS, who: "each replica", failure: "this collector's CVE database could not be compared with the others', trying again in a minute",
    run: () => replicaHealth.check(),
  });
  return {
    // Where there is one collector, its own feeds say how old its data are.
    name: "feeds", mount: "gateway", manager, jobs: hasRowLocks(deps.db) ? [job, own] : [job], metrics: feedMetrics({ store, clock }), health: { feeds: () => health.state() },
    checkReplica: () => replicaHealth.check(),
    routes: [cveUpdateRoutes(createCveUpdatesService({ ...deps, store, manager, feeds, alertAfterMs }))],
    fetchFile: (request) => download({ client, clock }, request), addressesOf: (url) => client.addressesOf(url), checkHealth: () => health.check(), close: () => manager.close(),
  };
}

function pauseOn(clock: Pick<Clock, "after">): FeedsDependencies["pause"] & object {
  return (ms, stop) => new Promise((resolve) => {
    if (stop.aborted) {
      resolve();
      return;
    }
    const end = () => {
      cancel();
      stop.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    stop.addEventListener("abort", end);
  });
}
