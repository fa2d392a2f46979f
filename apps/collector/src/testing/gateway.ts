import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ErrorEnvelope, type EventType, type Role } from "@lanthorn/contract";
import { type Clock, createId, silentLog, systemClock, toInstant } from "@lanthorn/runtime";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Insertable } from "kysely";
import { addressKey } from "../db/address-key.ts";
import { type Database, openDatabase } from "../db/open.ts";
import type { Schema } from "../db/schema.ts";
import { createLiveEvents } from "../events/live.ts";
import { createEventLog, type EventLog, type NewEvent } from "../events/log.ts";
import { createStreamSockets } from "../events/stream-socket.ts";
import { createClientAddress } from "../gateway/address.ts";
import { createGateway, type Tiers } from "../gateway/app.ts";
import type { GatewayEnvironment } from "../gateway/environment.ts";
import { createIdempotency } from "../gateway/idempotency.ts";
import { createIdempotencyStore } from "../gateway/idempotency-store.ts";
import { databaseHealth, type HealthParts, healthRoutes } from "../gateway/health.ts";
import { type Listener, type ListenerOptions, openListener } from "../gateway/listeners.ts";
import { createRateLimiter } from "../gateway/rate-limit.ts";
import { raiseAlerts } from "../services/alerts/raise-alerts.ts";
import { alertsRoutes } from "../services/alerts/routes.ts";
import { createAlertsService } from "../services/alerts/service.ts";
import { createAlertsStore } from "../services/alerts/store.ts";
import { createAudit } from "../services/audit/audit.ts";
import { auditRoutes } from "../services/audit/routes.ts";
import { createAuditService } from "../services/audit/service.ts";
import { createAuditStore } from "../services/audit/store.ts";
import { createDeviceEditor } from "../services/devices/editor.ts";
import { createDevicesService } from "../services/devices/service.ts";
import { createDevicesStore } from "../services/devices/store.ts";
import { devicesRoutes } from "../services/devices/routes.ts";
import { hashPassword } from "../services/people/passwords.ts";
import { createPeopleService } from "../services/people/service.ts";
import { createPeopleStore } from "../services/people/store.ts";
import { createTokens } from "../services/people/tokens.ts";
import { peopleRoutes } from "../services/people/routes.ts";

/** Real listeners over a real database in a directory of its own, without a broker, for tests. */
export interface TestGateway extends Database {
  readonly url: string;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly listener: Listener;
  readonly eventLog: EventLog;
  readonly get: (path: string, token?: string) => Promise<Answer>;
  readonly request: (path: string, init: RequestInit) => Promise<Answer>;
  /** A tenant with one site and a user whose password is `password`. */
  readonly createTenant: (role?: Role) => Promise<TestTenant>;
  readonly createDevice: (tenant: TestTenant, values: Partial<Insertable<Schema["devices"]>> & { readonly ip: string }) => Promise<string>;
  /** Appends, commits and publishes, as ingest does. */
  append(tenant: TestTenant, events: readonly Partial<NewEvent>[]): Promise<void>;
  stop(): Promise<void>;
}

export interface TestTenant {
  readonly tenantId: string;
  readonly siteId: string;
  readonly userId: string;
  readonly username: string;
  readonly token: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: never;
  readonly error: ErrorEnvelope["error"];
}

export const TEST_SECRET = new TextEncoder().encode("a secret of the tests, 32 bytes at least");

const PLENTY: Tiers = {
  standard: { perMinute: 100_000, burst: 100_000 }, admin: { perMinute: 100_000, burst: 100_000 },
  service: { perMinute: 100_000, burst: 100_000 },
};

export async function startTestGateway(options: {
  readonly clock?: Clock;
  readonly tiers?: Tiers;
  readonly tls?: ListenerOptions["tls"];
  readonly trustedProxies?: readonly string[];
  readonly services?: readonly OpenAPIHono<GatewayEnvironment>[];
  readonly parts?: HealthParts;
  /** Whether events raise alerts, as in the product. */
  readonly alerts?: boolean;
} = {}): Promise<TestGateway> {
  const clock = options.clock ?? systemClock;
  const log = silentLog;
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-gateway-"));
  const database = await openDatabase({ file: join(dataDir, "lanthorn.db") });
  const { db, reads } = database;
  const tokens = createTokens({ secret: TEST_SECRET, lifetimeSeconds: 86_400, clock });
  const people = createPeopleService({ store: createPeopleStore(database), tokens, clock, log });
  const eventLog: EventLog = createEventLog({
    reads, ...(options.alerts ? { onAppend: (trx, tenantId, rows) => raiseAlerts(trx, tenantId, rows, eventLog) } : {}),
  });
  const live = createLiveEvents({ log: eventLog, clock, logger: log });
  const published = (tenantId: string, fromSeq: number) => live.published(tenantId, fromSeq);
  const audit = createAudit({ clock });
  const limiter = createRateLimiter({ clock });
  const tiers = options.tiers ?? PLENTY;
  const idempotency = createIdempotency({ store: createIdempotencyStore({ db, clock, secret: TEST_SECRET }), clock, log });
  const app = createGateway({
    clock, log, authenticate: people.authenticate, limiter, tiers, idempotency,
    services: [
      peopleRoutes(people),
      devicesRoutes(createDevicesService({
        store: createDevicesStore({ reads }), editor: createDeviceEditor({ db, audit, clock }), clock,
      })),
      auditRoutes(createAuditService({ store: createAuditStore({ reads }), clock })),
      alertsRoutes(createAlertsService({ store: createAlertsStore(database), log: eventLog, published, audit, clock })),
      ...(options.services ?? []),
    ],
    health: healthRoutes({ version: "test", clock, log, parts: { database: databaseHealth(database), ...options.parts } }),
  });
  const streams = createStreamSockets({ live, authenticate: people.authenticate, limiter, tiers, clock, log });
  const listener = await openListener({ host: "127.0.0.1", port: 0, tls: options.tls ?? null }, {
    fetch: (incoming, bindings) => app.fetch(incoming, bindings), onUpgrade: streams.onUpgrade,
    clientAddress: createClientAddress(options.trustedProxies ?? []), clock, log,
  });
  const url = `${options.tls ? "https" : "http"}://127.0.0.1:${listener.port}`;
  const request = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, init);
    const text = await response.text();
    const body = (text === "" ? null : JSON.parse(text)) as { readonly error?: ErrorEnvelope["error"] } | null;
    return { status: response.status, headers: response.headers, body: body as never, error: body?.error as ErrorEnvelope["error"] };
  };
  // Argon2 is slow by design: one hash serves all tenants of a test.
  let passwordHash: Promise<string> | undefined;
  return {
    ...database, url, dataDir, clock, listener, eventLog, request,
    get: (path, token) => request(path, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }),

    async createTenant(role = "operator") {
      passwordHash ??= hashPassword("password");
      const [tenantId, siteId, userId] = [createId(), createId(), createId()];
      const at = toInstant(Math.floor(clock.now() / 1000) * 1000);
      const username = `user-${userId}`;
      await db.insertInto("tenants").values({ id: tenantId, name: "tenant", created_at: at }).execute();
      await db.insertInto("sites").values({ id: siteId, tenant_id: tenantId, name: "site", probe_configuration: "{}", created_at: at })
        .execute();
      await db.insertInto("users").values({
        id: userId, tenant_id: tenantId, username, password_hash: await passwordHash, role, created_at: at, tokens_valid_from: at,
      }).execute();
      const { token } = await tokens.issue({ userId, tenantId, role });
      return { tenantId, siteId, userId, username, token };
    },

    async createDevice({ tenantId, siteId }, values) {
      const at = toInstant(clock.now());
      const row: Insertable<Schema["devices"]> = {
        id: createId(), tenant_id: tenantId, site_id: siteId, ip_key: addressKey(values.ip), mac: "", hostname: "", vendor: "",
        os_guess: "",
        device_type: "unknown", is_online: 1, presence_state: "online", first_seen: at, last_seen: at, open_ports: "[]", tags: "[]",
        locked_fields: "[]", ...values,
      };
      await db.insertInto("devices").values(row).execute();
      return row.id;
    },

    async append({ tenantId, siteId }, events) {
      const at = toInstant(clock.now());
      const rows = events.map((event): NewEvent => ({
        type: "error" satisfies EventType, siteId, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at,
        receivedAt: at,
        data: { code: "test", message: "" }, ...event,
      }));
      const { fromSeq } = await db.transaction().execute((trx) => eventLog.append(trx, tenantId, rows));
      live.published(tenantId, fromSeq);
    },

    async stop() {
      idempotency.close();
      await streams.close();
      await listener.close();
      await database.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}
