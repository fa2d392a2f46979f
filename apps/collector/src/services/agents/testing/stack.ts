import { mkdtempSync, rmSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROLE_SCOPES, type Role } from "@lanthorn/contract";
import { type Clock, createId, derivedId, parseJson, silentLog, systemClock, toInstant } from "@lanthorn/runtime";
import type { IClientOptions, MqttClient } from "mqtt";
import { connectProbe } from "../../../broker/testing/bench.ts";
import { createEmbeddedBroker, type EmbeddedBroker } from "../../../broker/embedded.ts";
import { type Authority, type KeyAndCertificate, openAuthority } from "../../../certificates/authority.ts";
import type { Database } from "../../../db/open.ts";
import { createEventLog } from "../../../events/log.ts";
import { createReactions } from "../../../events/reaction.ts";
import { REACTION_ORDER, REACTIONS } from "../../../reactions.ts";
import { createClientAddress } from "../../../gateway/http/address.ts";
import { createGateway, createPeerAllowance } from "../../../gateway/app.ts";
import { type ConnectionLimits, createConnections } from "../../../gateway/http/connections.ts";
import { healthRoutes } from "../../../gateway/health.ts";
import { openListener } from "../../../gateway/http/listeners.ts";
import { createRateLimiter } from "../../../gateway/limits/rate-limit.ts";
import { createMerges } from "../../../identity/merging/merges.ts";
import { createIngest, type Ingest } from "../../../ingest/ingest.ts";
import { DEVICE_KEEP } from "../../../testing/device-keep.ts";
import { openTestDatabase } from "../../../testing/database.ts";
import { type Keyring, singleKey } from "../../../sealing/keyring.ts";
import { createSealing, type Sealing } from "../../../sealing/sealing.ts";
import { createAudit } from "../../audit/audit.ts";
import { FileSettings } from "../../files/configuration.ts";
import { startJobs } from "../../../jobs/start-jobs.ts";
import { openFiles } from "../../files/open.ts";
import { openBundles } from "../../bundles/open.ts";
import { type BundlesStore, createBundlesStore } from "../../bundles/store.ts";
import { PcapSettings } from "../../pcap/configuration.ts";
import { openPcap } from "../../pcap/open.ts";
import { type Ids, openIds } from "../../ids/open.ts";
import { createPublication } from "../../bundles/publish.ts";
import { openAnomalies } from "../../anomalies/open.ts";
import { openGuards } from "../../guards/open.ts";
import { createFreeAddressFinder } from "../../ipam/free-address.ts";
import { createIpamStore } from "../../ipam/store/plan.ts";
import { openHoneypots } from "../../honeypots/open.ts";
import { createSitesService, DEFAULT_SITE_CONFIGURATION } from "../../sites/service.ts";
import { sitesRoutes } from "../../sites/routes.ts";
import { createSitesStore } from "../../sites/store.ts";
import { vaultRoutes } from "../../vault/routes.ts";
import { createVaultService } from "../../vault/service.ts";
import { createVaultStore } from "../../vault/store.ts";
import { createHealthHistory } from "../health-history.ts";
import { agentsRoutes } from "../routes.ts";
import { type AgentsService, createAgentsService } from "../service.ts";
import { createSettingsService } from "../settings-service.ts";
import { createAgentsStore } from "../store.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // A test says by its expectations what it takes this for.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly raw: Buffer;
}

/** HTTPS, embedded broker and ingest over one database, as the collector has them; the bearer token is `<tenant id> <role>`. */
export interface Stack {
  readonly database: Database;
  readonly bundles: BundlesStore;
  readonly ids: Ids;
  readonly dataDir: string;
  readonly sealing: Sealing;
  readonly authority: Authority;
  readonly broker: EmbeddedBroker;
  readonly ingest: Ingest;
  readonly tenantId: string;
  readonly siteId: string;
  readonly httpsPort: number;
  call(
    method: string, path: string,
    /** @param options.body Bytes go as they are, all else as JSON. */
    options?: { readonly body?: unknown; readonly role?: Role; readonly tenantId?: string; readonly identity?: KeyAndCertificate;
      readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Answer>;
  connect(probeId: string, identity: KeyAndCertificate, options?: IClientOptions): Promise<MqttClient>;
  close(): Promise<void>;
}

const PLENTY = { perMinute: 100_000, burst: 100_000 };

export async function startStack(options: {
  readonly clock?: Clock;
  /** Of the listener for HTTPS. */
  readonly connections?: Partial<ConnectionLimits>;
  readonly files?: Partial<FileSettings>;
  readonly pcap?: Partial<PcapSettings>;
  readonly keyring?: Keyring;
} = {}): Promise<Stack> {
  const clock = options.clock ?? systemClock;
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-stack-"));
  const database = await openTestDatabase(dataDir);
  const [tenantId, siteId] = [createId(), createId()];
  const at = toInstant(clock.now());
  await database.db.insertInto("tenants").values({ id: tenantId, name: "tenant", created_at: at }).execute();
  await database.db.insertInto("sites").values({
    id: siteId, tenant_id: tenantId, name: "site", created_at: at, probe_configuration: DEFAULT_SITE_CONFIGURATION,
  }).execute();
  const authority = await openAuthority({ dataDir, clock });
  const certificate = await authority.issueToServer(["127.0.0.1", "localhost"]);
  const store = createAgentsStore(database);
  const broker = createEmbeddedBroker({
    host: "127.0.0.1", port: 0, certificate: { current: () => certificate, onChange: () => {} }, clientCa: authority.certificate,
    admit: (probeId, key) => agents.admit(probeId, key), clock, log: silentLog,
    limits: { connections: 10_000, strangersPerAddress: 64 }, trustedProxies: [],
  });
  const audit = createAudit({ clock });
  const sealing = createSealing(options.keyring ?? singleKey(new Uint8Array(32).fill(3)));
  const onSite = (site: string) => ingest.configured({ siteId: site });
  const honeypots = openHoneypots({ ...database, sealing, audit, clock, log: silentLog, broker, onConfigured: onSite, freeAddress: createFreeAddressFinder({ ...database, store: createIpamStore(database), clock }) });
  const anomalies = openAnomalies({
    ...database, audit, clock, log: silentLog, onConfigured: onSite, resolveAlert: () => Promise.resolve(), ask: (...given) => pcap.ask(...given), capturesOf: (...given) => pcap.capturesOf(...given), publishCountries: () => Promise.resolve(true),
  }, { keepDays: 90 });
  const log = createEventLog({
    reads: database.reads, reactions: createReactions(REACTIONS, REACTION_ORDER, { ...anomalies.reactions, ...honeypots.reactions, pcaps: { types: ["pcap_recorded"], react: (...given) => pcap.react(...given) } }),
  });
  const onConfigured = (probeIds: readonly string[]) => ingest.configured({ probeIds });
  const vault = createVaultService({
    store: createVaultStore(database), sealing, audit, clock, log: silentLog,
    onHanded: onConfigured,
  });
  const bundlesStore = createBundlesStore(database);
  const guards = openGuards({
    ...database, audit, clock, log: silentLog, broker, onConfigured: onSite,
  });
  const pcap = openPcap({ data_dir: dataDir, pcap: PcapSettings.parse(options.pcap ?? {}) }, {
    ...database, sealing, audit, clock, log, published: () => undefined, logger: silentLog, broker, contents: () => files.contents,
    onConfigured: onSite,
  });
  const settings = createSettingsService({ ...database, credentials: vault, bundles: bundlesStore, guards, anomalies, captures: pcap, decoys: honeypots, audit, onConfigured });
  const ids = openIds({ data_dir: dataDir }, {
    ...database, audit, clock, log: silentLog, events: log, published: () => undefined, captures: pcap.downloads, fetchFile: () => Promise.reject(new Error("nothing is downloaded here")), onPublished: onSite,
    publish: async ({ siteId: site, ...bundle }) => bundlesStore.publish(await createPublication(authority, bundle), toInstant(clock.now()), site),
  });
  const healthHistory = createHealthHistory({ db: database.db, clock, logger: silentLog });
  const ingest: Ingest = createIngest({
    registry: {
      ...settings,
      async heard(known, health) {
        await healthHistory.heard(known, health);
        await honeypots.heard(known, health);
      },
    }, ...database,
    commands: {
      async replied(probe, reply) {
        await guards.replied(probe, reply);
        await pcap.replied(probe, reply);
        await honeypots.replied(probe, reply);
      },
      online: pcap.online,
    },
    log,
    merges: createMerges({ audit, clock }), projections: REACTIONS, published: () => {}, broker, clock, logger: silentLog,
    silentAfterSeconds: 90, keep: DEVICE_KEEP,
  });
  await ingest.start();
  await broker.start(ingest);
  const agents: AgentsService = createAgentsService({
    store, audit, authority, limiter: createRateLimiter({ clock }), clock, log: silentLog,
    mqttUrl: (host) => `mqtts://${host}:${broker.port()}`,
    async onRevoked(probeId) {
      broker.disconnect(probeId);
      await ingest.revoked(probeId);
    },
    onSuperseded: (probeId, key) => broker.disconnect(probeId, { except: key }),
  });
  const bundles = openBundles(bundlesStore, {
    admit: agents.admit, onPublished: onConfigured, clock, log: silentLog,
  });
  const files = openFiles({ data_dir: dataDir, files: FileSettings.parse(options.files ?? {}) }, {
    ...database, audit, sealing, admit: agents.admit, clock, log: silentLog, onCapture: pcap.fileCame,
  });
  const jobs = await startJobs([...files.retention ?? [], ...pcap.jobs ?? [], ...pcap.retention ?? []], { clock, lease: null });
  const app = createGateway({
    clock, log: silentLog, limiter: createRateLimiter({ clock }), tiers: { standard: PLENTY, admin: PLENTY, service: PLENTY },
    idempotency: {
      async doOnce(_, next) {
        await next();
        return undefined;
      },
    },
    authentication: {
      byKey: () => Promise.resolve("no keys here"),
      byToken(token) {
        const [tenant, role] = token.split("_") as [string, Role];
        return Promise.resolve({
          userId: derivedId(token), username: "tester", tenantId: tenant, role, scopes: new Set(ROLE_SCOPES[role]), key: null, tokenId: token,
          issuedAt: clock.now(), expiresAt: clock.now() + 60_000,
        });
      },
    },
    services: {
      gateway: [sitesRoutes(
        createSitesService({ store: createSitesStore(database), audit, clock, onConfigured: onSite }),
      ), ...guards.routes, ...anomalies.routes, ...pcap.routes, ...ids.routes, ...honeypots.routes],
      agents: [agentsRoutes({ service: agents, settings }), ...files.routes, ...bundles.routes],
      vault: [vaultRoutes(vault)],
    },
    health: healthRoutes({ version: "test", clock, log: silentLog, parts: {} }),
  });
  const listener = await openListener({ host: "127.0.0.1", port: 0, tls: { ...certificate, clientAuthority: authority.certificate } }, {
    fetch: app.fetch, onUpgrade: ({ socket }) => socket.destroy(), clientAddress: createClientAddress([]), clock, log: silentLog,
    takeAllowance: createPeerAllowance({ limiter: createRateLimiter({ clock }), tiers: { standard: PLENTY, admin: PLENTY, service: PLENTY } }),
    connections: createConnections({
      limits: { total: 4096, perAddress: 4096, strangersPerAddress: 4096, perProxy: 4096, ...options.connections }, trustedProxies: [],
      clock,
    }),
  });
  return {
    database, bundles: bundlesStore, ids, dataDir, sealing, authority, broker, ingest, tenantId, siteId, httpsPort: listener.port,
    call: (method, path, { body, role = "admin", tenantId: tenant = tenantId, identity, headers = {} } = {}) => new Promise((resolve, reject) => {
      const request = httpsRequest({
        host: "127.0.0.1", port: listener.port, method, path, ca: authority.certificate, agent: false,
        ...(identity ? { key: identity.key, cert: identity.certificate } : { headers: { ...headers, authorization: `Bearer ${tenant}_${role}` } }),
      }, (response) => {
        const chunks: Buffer[] = [];
        response.on("error", reject);
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const raw = Buffer.concat(chunks);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parseJson(raw.toString()) ?? null, raw });
        });
      });
      request.on("error", reject);
      const isBytes = body instanceof Uint8Array;
      if (body !== undefined) request.setHeader("content-type", isBytes ? "application/octet-stream" : "application/json");
      request.end(body === undefined || isBytes ? body : JSON.stringify(body));
    }),
    connect: (probeId, identity, extra = {}) => connectProbe(
      broker.port(), authority.certificate, identity, { clientId: probeId, ...extra },
    ),
    async close() {
      await jobs.close();
      await pcap.close?.();
      for (const job of ids.jobs ?? []) if (job.where === "loop") await job.close();
      await ids.close?.();
      await files.close?.();
      await listener.close();
      await ingest.close();
      await broker.close();
      await database.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}
