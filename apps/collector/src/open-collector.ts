import { openBroker } from "./broker/open.ts";
import type { Broker } from "./broker/broker.ts";
import type { Configuration } from "./configuration.ts";
import { siteExists } from "./db/locks/site-exists.ts";
import { createLiveEvents, type LiveEvents } from "./events/live.ts";
import { createEventLog, type EventLog, type Reactions } from "./events/log.ts";
import { createReactions } from "./events/reaction.ts";
import { databaseHealth, databaseMoves, diskHealth, jobsHealth, withoutReason } from "./gateway/health.ts";
import { createIdempotencyStore } from "./gateway/idempotency/store.ts";
import { createIdempotency } from "./gateway/idempotency/idempotency.ts";
import { createMerges, type Merges } from "./identity/merging/merges.ts";
import { createIngest, type Ingest } from "./ingest/ingest.ts";
import { DEFAULT_QUOTA } from "./ingest/messages/quota.ts";
import { startJobs } from "./jobs/start-jobs.ts";
import { createLate } from "./late.ts";
import { jobReadings } from "./metrics/job-readings.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { type Base, type CollectorDependencies, openBase } from "./open-base.ts";
import { openGateway } from "./open-gateway.ts";
import { openServices } from "./open-services.ts";
import { REACTION_ORDER, REACTIONS } from "./reactions.ts";
import { healthOf, jobsOf, metricsOf, reactionsOf, routesOf } from "./service-module.ts";
import { keepOf } from "./services/devices/configuration.ts";

/** A collector that serves. */
export interface OpenCollector {
  readonly ready: { readonly url: string; readonly https_url: string | null; readonly mqtt_url: string };
  readonly isAlive: () => Promise<boolean>;
}

type Services = Awaited<ReturnType<typeof openServices>>;

/** Opens every part, each after what it stands on; `lifecycle` closes them the other way round, the database last. */
export async function openCollector(configuration: Configuration, deps: CollectorDependencies): Promise<OpenCollector> {
  const { clock, log, lifecycle, version } = deps;
  const peers = createLate<Broker>("the broker");
  const services = createLate<Services>("the services");
  const reactions = createLate<Reactions>("the table of reactions");
  const ingest = createLate<Ingest>("ingest");

  const base = await openBase(configuration, deps, { onAccessChanged: (tenantId) => peers.peek()?.announceAccess(tenantId) });
  const { database, replicas, authority, certificate, secret, sessions } = base;
  const { db, reads } = database;
  const { broker, mqttUrl } = await openBroker(configuration, {
    authority, certificate, secret, clock, log, admit: (probeId, key) => services.get().agents.admit(probeId, key),
  });
  lifecycle.onClose("broker", () => broker.close());

  const events = openEventLog(base, deps, reactions.get);
  const published = (tenantId: string, fromSeq: number) => {
    events.live.published(tenantId, fromSeq);
    services.get().diplomat.published(tenantId);
    services.get().softwareChanged();
    peers.peek()?.announce(tenantId);
  };
  replicas.follow(() => events.live.refresh());
  const merges = createMerges({ audit: base.audit, clock });
  services.set(await openServices(configuration, deps, base, { ...events, published, merges, broker, mqttUrl, ingest: ingest.get }));
  const { modules } = services.get();
  reactions.set(createReactions(REACTIONS, REACTION_ORDER, reactionsOf(modules)));
  for (const { name, close } of modules) if (close) lifecycle.onClose(name, close);
  for (const { start } of modules) await start?.();

  const metrics = createMetrics();
  metrics.watchProcess();
  ingest.set(openIngest(configuration, deps, base, { ...events, services: services.get(), published, merges, broker, metrics }));
  lifecycle.onClose("ingest", () => ingest.get().close());
  await ingest.get().start();
  await broker.start(ingest.get(), replicas.peersOf(events.live, ingest.get(), sessions));
  peers.set(broker);

  const idempotency = createIdempotency({ store: createIdempotencyStore({ db, clock, secret }), clock, log });
  const jobs = await startJobs([...jobsOf(modules), ...replicas.jobs, idempotency.job, certificate.job], { clock, lease: replicas.lease });
  lifecycle.onClose("jobs", () => jobs.close());
  metrics.watch([...metricsOf(modules), ...jobReadings(jobs)]);
  const urls = await openGateway(configuration, {
    clock, log, lifecycle, version, authority, certificate, live: events.live, metrics, sessions, idempotency, services: routesOf(modules),
    authentication: base.auth.authentication, limiter: replicas.limiter, siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    healthParts: {
      database: databaseHealth(database), disk: diskHealth(configuration.data_dir), broker: withoutReason(() => broker.health()),
      ingest: withoutReason(() => ingest.get().health()), ingest_lag: () => ingest.get().lag(), jobs: jobsHealth(jobs), ...healthOf(modules),
    },
    watched: { ingest: ingest.get(), broker },
  });
  return { ready: { ...urls, mqtt_url: mqttUrl(configuration.mqtt.host) }, isAlive: () => databaseMoves(database) };
}

/** The event log, and who waits for what is new in it. @param reactions Those of the services, which are opened after the log. */
function openEventLog(
  { database: { reads } }: Base, { clock, log: logger }: CollectorDependencies, reactions: () => Reactions,
): { readonly eventLog: EventLog; readonly live: LiveEvents } {
  const eventLog = createEventLog({
    reads, reactions: { concerns: (type) => reactions().concerns(type), run: (...appended) => reactions().run(...appended) },
  });
  return { eventLog, live: createLiveEvents({ log: eventLog, clock, logger }) };
}

function openIngest({ probes, inventory, mqtt }: Configuration, { clock, log }: CollectorDependencies, base: Base, parts: {
  readonly eventLog: EventLog; readonly published: (tenantId: string, fromSeq: number) => void; readonly merges: Merges;
  readonly broker: Broker; readonly metrics: Metrics; readonly services: Services;
}): Ingest {
  const { published, merges, broker, metrics, services } = parts;
  return createIngest({
    ...base.database, registry: services.agents.registry, log: parts.eventLog, merges, projections: REACTIONS, published, broker, clock,
    logger: log, commands: services.commands, measure: metrics.ingest, silentAfterSeconds: probes.silent_after_seconds,
    duty: base.replicas.lease, keep: keepOf(inventory),
    quota: {
      bytesPerMinute: probes.quota_megabytes_per_minute * 1e6,
      // An external broker brings all probes' messages by one connection: a probe that is held back there holds up all.
      maxHoldMs: mqtt.url === undefined ? DEFAULT_QUOTA.maxHoldMs : 0,
    },
  });
}
