import type { Clock, Lifecycle, Log } from "@lanthorn/runtime";
import type { Authority } from "./certificates/authority.ts";
import type { ServerCertificate } from "./certificates/server-certificate.ts";
import type { Configuration } from "./configuration.ts";
import { readPem } from "./data-dir.ts";
import { createAssets } from "./documents/assets.ts";
import { createDocuments } from "./documents/documents.ts";
import { readPageFiles } from "./dashboard/files.ts";
import { limitPages } from "./dashboard/limit-pages.ts";
import { dashboardRoutes } from "./dashboard/routes.ts";
import { documentRoutes } from "./documents/routes.ts";
import type { LiveEvents } from "./events/live.ts";
import { createStreamSockets } from "./events/stream-socket.ts";
import { createGateway, createPeerAllowance } from "./gateway/app.ts";
import type { Authentication } from "./gateway/authentication.ts";
import { createConnections } from "./gateway/http/connections.ts";
import { type HealthParts, healthRoutes } from "./gateway/health.ts";
import type { Idempotency } from "./gateway/idempotency/idempotency.ts";
import { connectionLimits } from "./gateway/limits/configuration.ts";
import { openListeners } from "./gateway/open.ts";
import { createRemotes } from "./gateway/proxy/remotes.ts";
import { createProxiedSockets } from "./gateway/proxy/sockets.ts";
import type { ServiceRoutes } from "./gateway/services.ts";
import type { StreamSessions } from "./gateway/stream-sessions.ts";
import { createRateLimiter, type RateLimiter } from "./gateway/limits/rate-limit.ts";
import { tierOf, tiersOf } from "./gateway/limits/tiers.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { readingsOf } from "./metrics/readings.ts";
import { metricsRoutes } from "./metrics/routes.ts";

/** What the gateway stands on. */
interface GatewayParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  readonly version: string;
  readonly authentication: Authentication;
  readonly limiter: RateLimiter;
  readonly idempotency: Idempotency;
  /** Every service of this process, without the health of the whole. */
  readonly services: ServiceRoutes;
  readonly healthParts: HealthParts;
  readonly authority: Authority;
  readonly certificate: ServerCertificate;
  readonly live: LiveEvents;
  readonly sessions: StreamSessions;
  readonly siteExists: (tenantId: string, siteId: string) => Promise<boolean>;
  readonly metrics: Metrics;
  /** What the metrics read beside streams and connections. */
  readonly watched: Omit<Parameters<typeof readingsOf>[0], "streams" | "connections">;
}

/**
 * Opens everything that HTTP clients meet: the routes, the documents, the streams, the services elsewhere and the listeners.
 * @throws CollectorError `listen-failed`, naming the address.
 */
export async function openGateway(configuration: Configuration, deps: GatewayParts): ReturnType<typeof openListeners> {
  const { clock, log, lifecycle, version, authentication, limiter, idempotency, authority, certificate, live, metrics } = deps;
  const tiers = tiersOf(configuration);
  const remotes = createRemotes(configuration.services, { clock, readPem });
  lifecycle.onClose("services behind the gateway", () => remotes.close());
  const health = healthRoutes({
    version, clock, log,
    parts: { ...deps.healthParts, ...remotes.parts },
  });
  const services = { ...deps.services, gateway: [...(deps.services.gateway ?? []), health] };
  const pages = await readPageFiles();
  if (!pages) log.warn({}, "the dashboard was not built; / answers 404");
  const app = createGateway({
    clock, log, authentication, limiter, tiers, idempotency, health, services: remotes.mount(services),
    origins: configuration.cors.origins, measure: metrics.request,
    gatewaySecret: configuration.gateway.secret === undefined ? null : new TextEncoder().encode(configuration.gateway.secret),
    // Counted here also where replicas share the limits: a file is cheaper than a question to the database.
    open: pages ? [dashboardRoutes(pages, limitPages({ limiter: createRateLimiter({ clock }), tier: tierOf(configuration.rate_limits.pages) }))] : [],
    atRoot: [
      documentRoutes({
        documents: createDocuments({ routes: services, version }), assets: createAssets(), isPublic: configuration.docs.public,
        arePagesOpen: configuration.docs.pages,
      }),
      metricsRoutes({ metrics, allow: configuration.metrics.allow }),
    ],
  });
  const { sessions, siteExists } = deps;
  const streams = createStreamSockets({ live, authentication, sessions, siteExists, limiter, tiers, clock, log });
  const proxied = createProxiedSockets({ remotes: remotes.all, authentication, sessions, limiter, tiers, clock, log });
  const connections = createConnections({
    limits: connectionLimits(configuration.connections), trustedProxies: configuration.trusted_proxies, clock,
  });
  metrics.watch(readingsOf({ ...deps.watched, streams, connections }));
  return openListeners(configuration, {
    authority, certificate, lifecycle, clock, log, connections, takeAllowance: createPeerAllowance({ limiter, tiers }),
    fetch: (request, bindings) => app.fetch(request, bindings),
    onUpgrade(upgrade) {
      if (!proxied.take(upgrade)) streams.onUpgrade(upgrade);
    },
    async closeStreams() {
      proxied.close();
      await streams.close();
    },
  });
}
