import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, type Log, silentLog, systemClock } from "@lanthorn/runtime";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Database } from "../db/open.ts";
import { createAssets } from "../documents/assets.ts";
import { createDocuments } from "../documents/documents.ts";
import { documentRoutes } from "../documents/routes.ts";
import { siteExists } from "../db/locks/site-exists.ts";
import { createLiveEvents } from "../events/live.ts";
import { createEventLog, type EventLog } from "../events/log.ts";
import { createReactions } from "../events/reaction.ts";
import { createGateway, type Tiers } from "../gateway/app.ts";
import type { Connections } from "../gateway/http/connections.ts";
import type { GatewayEnvironment } from "../gateway/environment.ts";
import { createIdempotency } from "../gateway/idempotency/idempotency.ts";
import { createIdempotencyStore } from "../gateway/idempotency/store.ts";
import { databaseHealth, type HealthParts, healthRoutes } from "../gateway/health.ts";
import type { Listener } from "../gateway/http/listeners.ts";
import { createRemotes } from "../gateway/proxy/remotes.ts";
import { createRateLimiter } from "../gateway/limits/rate-limit.ts";
import type { ServiceRoutes } from "../gateway/services.ts";
import { createStreamSessions, type StreamLimits, type StreamSessions } from "../gateway/stream-sessions.ts";
import { type Alerts, createAlerts } from "../services/alerts/alerts.ts";
import { createAlertReaction } from "../services/alerts/reaction/reaction.ts";
import { createAnomaliesReaction } from "../services/anomalies/reaction.ts";
import { createAnomaliesStore } from "../services/anomalies/store.ts";
import { startJobs } from "../jobs/start-jobs.ts";
import { jobsOf, type ServiceModule } from "../service-module.ts";
import { REACTION_ORDER, REACTIONS, type ServiceReactions } from "../reactions.ts";
import type { Audit } from "../gateway/audit.ts";
import { createAudit } from "../services/audit/audit.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { metricsRoutes } from "../metrics/routes.ts";
import { createMerges } from "../identity/merging/merges.ts";
import { auditRoutes } from "../services/audit/routes.ts";
import { createAuditService } from "../services/audit/service.ts";
import { createAuditStore } from "../services/audit/store.ts";
import { createAffectedService } from "../services/cve/affected/service.ts";
import { createAffectedStore } from "../services/cve/affected/store/affected.ts";
import { scanReaction } from "../services/scans/reaction.ts";
import type { IsConfirmed } from "../services/auth/login/confirmations.ts";
import { createPasswords, type Passwords } from "../services/auth/login/passwords.ts";
import { createAuth } from "../services/auth/auth.ts";
import { createAuthStore } from "../services/auth/store.ts";
import { createTokens, type TokenKey } from "../services/auth/tokens.ts";
import { openTestDatabase } from "./database.ts";
import { createGatewayCalls, type GatewayCalls } from "./gateway-calls.ts";
import { createGatewayRecords, type GatewayRecords } from "./gateway-records.ts";
import { openTestListener, type TestListenerOptions } from "./listen.ts";
import { PLENTY } from "./plenty.ts";
import { testVendorOf } from "./vendors.ts";
import { sitesRoutes } from "../services/sites/routes.ts";
import { createSitesService } from "../services/sites/service.ts";
import { createSitesStore } from "../services/sites/store.ts";
import { neighborReaction } from "../services/topology/neighbor-reaction.ts";
import { switchReaction } from "../services/topology/switch-reaction.ts";
import { createTopology } from "../services/topology/topology.ts";
import { eventsRoutes } from "../services/events/routes.ts";
import { createEventsService } from "../services/events/service.ts";
import { createEventsStore } from "../services/events/store.ts";
import { createDevices } from "../services/devices/devices.ts";

/** Real listeners over a real database in a directory of its own, without a broker, for tests. */
export interface TestGateway extends Database, GatewayCalls, GatewayRecords {
  readonly url: string;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly listener: Listener;
  readonly eventLog: EventLog;
  readonly alerts: Alerts;
  readonly sessions: StreamSessions;
  readonly connections: Connections;
  /** @param options.keep Leaves the data directory, which another one uses. */
  stop(options?: { readonly keep: boolean }): Promise<void>;
}

export type { Answer } from "./gateway-calls.ts";
export type { TestTenant } from "./gateway-records.ts";

type Routers = readonly OpenAPIHono<GatewayEnvironment>[];

/** What a service is made of. */
export interface ServiceParts extends Pick<Database, "db" | "reads"> {
  readonly log: EventLog;
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly logger: Log;
  readonly isConfirmed: IsConfirmed;
  readonly resolveAlert: Alerts["resolve"];
}

export const TEST_SECRET = new TextEncoder().encode("a secret of the tests, 32 bytes at least");

/** A service that takes part in what the gateway does with events. */
export interface Extension {
  readonly services: ServiceRoutes;
  readonly deliveries: ServiceReactions["deliveries"];
  readonly published: (tenantId: string) => void;
  readonly close: () => Promise<void>;
}

/** Against which a login of nobody is compared: 32 digits that each gateway makes up at its start. Argon2 is slow by design, so one serves all. */
let nobodysHash: Promise<string> | undefined;

function cheapPasswords(): Passwords {
  const real = createPasswords();
  return { ...real, hash: (password) => (/^[\da-f]{32}$/.test(password) ? (nobodysHash ??= real.hash(password)) : real.hash(password)) };
}

export async function startTestGateway(options: TestListenerOptions & {
  readonly clock?: Clock;
  readonly maxOpenAlerts?: number;
  readonly tiers?: Tiers;
  readonly tokenKey?: TokenKey;
  readonly passwords?: Passwords;
  /** Of another one, whose database it shares. */
  readonly dataDir?: string;
  readonly services?: Routers | ((parts: ServiceParts) => Routers);
  /** Services with their jobs; they are closed with it. */
  readonly modules?: (parts: ServiceParts) => readonly ServiceModule[];
  readonly parts?: HealthParts;
  /** Whether events raise alerts and tell of scans, as in the product. */
  readonly alerts?: boolean;
  readonly publicDocuments?: boolean;
  readonly extend?: (parts: Database & { readonly clock: Clock; readonly dataDir: string }) => Extension;
  /** Services that are elsewhere. */
  readonly remotes?: Parameters<typeof createRemotes>[0];
  /** Declared here, so that the access of each route is known, and served where `remotes` says. */
  readonly declared?: ServiceRoutes;
  readonly origins?: readonly string[];
  readonly gatewaySecret?: string;
  readonly metricsAllow?: readonly string[];
  /** False: they need credentials. */
  readonly pages?: boolean;
  readonly streams?: Partial<StreamLimits>;
  /** Called with what would be sent to other collectors. */
  readonly onAccessChanged?: (tenantId: string) => void;
  readonly log?: Log;
} = {}): Promise<TestGateway> {
  const [clock, log] = [options.clock ?? systemClock, options.log ?? silentLog];
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "lanthorn-gateway-"));
  const database = await openTestDatabase(dataDir);
  const { db, reads } = database;
  const extension = options.extend?.({ ...database, clock, dataDir });
  const tokenKey = options.tokenKey ?? { secret: TEST_SECRET };
  const tokens = createTokens({ key: tokenKey, lifetimeSeconds: 86_400, clock });
  const audit = createAudit({ clock });
  const passwords = options.passwords ?? cheapPasswords();
  const sessions = createStreamSessions({
    authentication: { again: (identity) => auth.authentication.again(identity) }, clock,
    limits: { total: 1000, perTenant: 1000, perUser: 1000, ...options.streams },
  });
  const auth = createAuth({
    onAccessChanged(tenantId) {
      sessions.accessChanged(tenantId);
      options.onAccessChanged?.(tenantId);
    },
    store: createAuthStore(database), passwords, db, reads, tokenKey, tokenLifetimeSeconds: 86_400, audit, clock, log,
  });
  const reactions: Partial<ServiceReactions> = {
    ...(extension && { deliveries: extension.deliveries }),
    ...(options.alerts && {
      anomalies: createAnomaliesReaction({ store: createAnomaliesStore(database), clock }), alerts: createAlertReaction({ maxOpen: options.maxOpenAlerts ?? 1000 }), scans: scanReaction, neighbors: neighborReaction,
      switches: switchReaction,
    }),
  };
  const eventLog = createEventLog({ reads, reactions: createReactions(REACTIONS, REACTION_ORDER, reactions) });
  const live = createLiveEvents({ log: eventLog, clock, logger: log });
  const published = (tenantId: string, fromSeq: number) => {
    live.published(tenantId, fromSeq);
    extension?.published(tenantId);
  };
  const alerts = createAlerts({ db, reads, log: eventLog, published, audit, clock, logger: log }, { keepDays: 30, maxOpen: options.maxOpenAlerts ?? 1000 });
  const parts = { db, reads, log: eventLog, published, audit, clock, logger: log, isConfirmed: auth.isConfirmed, resolveAlert: alerts.resolve };
  const topology = createTopology({ reads, clock });
  const { cvesOf, devicesWith } = createAffectedService({ store: createAffectedStore(database), clock, loaded: () => null });
  const devices = createDevices({ ...parts, merges: createMerges({ audit, clock }), neighborsOf: topology.neighborsOf, cvesOf, devicesWith, vendorOf: testVendorOf() });
  const limiter = createRateLimiter({ clock });
  const tiers = options.tiers ?? PLENTY;
  const idempotency = createIdempotency({ store: createIdempotencyStore({ db, clock, secret: TEST_SECRET }), clock, log });
  const remotes = createRemotes(options.remotes ?? {}, { clock, readPem: (path) => path });
  const health = healthRoutes({
    version: "test", clock, log, parts: { database: databaseHealth(database), ...options.parts, ...remotes.parts },
  });
  const modules = options.modules?.(parts) ?? [];
  const services: ServiceRoutes = {
    ...options.declared,
    gateway: [
      ...auth.routes, ...devices.routes, ...topology.routes,
      eventsRoutes(createEventsService({ store: createEventsStore({ reads }), log: eventLog, clock })),
      sitesRoutes(createSitesService({ store: createSitesStore(database), audit, clock, onConfigured: async () => {} })),
      auditRoutes(createAuditService({ store: createAuditStore({ reads }), clock })),
      ...alerts.routes,
      health,
      ...modules.flatMap(({ routes }) => routes),
      ...(typeof options.services === "function" ? options.services(parts) : (options.services ?? [])),
    ],
    ...extension?.services,
  };
  const jobs = await startJobs([...jobsOf([auth, devices, topology, alerts, ...modules]), idempotency.job], { clock, lease: null });
  const metrics = createMetrics();
  const app = createGateway({
    clock, log, authentication: auth.authentication, limiter, tiers, idempotency, services: remotes.mount(services), health,
    origins: options.origins ?? [],
    gatewaySecret: options.gatewaySecret === undefined ? null : new TextEncoder().encode(options.gatewaySecret),
    measure: metrics.request,
    atRoot: [
      documentRoutes({
        documents: createDocuments({ routes: services, version: "test" }), assets: createAssets(),
        isPublic: options.publicDocuments ?? false, arePagesOpen: options.pages ?? true,
      }),
      metricsRoutes({ metrics, allow: options.metricsAllow ?? ["127.0.0.0/8"] }),
    ],
  });
  const { listener, connections, closeStreams } = await openTestListener(options, {
    live, authentication: auth.authentication, sessions, remotes: remotes.all, limiter, tiers, clock, log,
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    fetch: (incoming, bindings) => app.fetch(incoming, bindings),
  });
  const url = `${options.tls ? "https" : "http"}://127.0.0.1:${listener.port}`;
  return {
    ...database, ...createGatewayCalls(url), ...createGatewayRecords({ db, clock, tokens, eventLog, published }),
    url, dataDir, clock, listener, eventLog, alerts, sessions, connections,

    async stop({ keep } = { keep: false }) {
      await jobs.close();
      for (const { close } of modules) await close?.();
      await closeStreams();
      remotes.close();
      await auth.close();
      await listener.close();
      await extension?.close();
      await database.close();
      if (!keep) rmSync(dataDir, { recursive: true });
    },
  };
}
