#!/usr/bin/env node
import { createRequire } from "node:module";
import { userInfo } from "node:os";
import { fileURLToPath } from "node:url";
import {
  createLifecycle, createLog, createServiceManager, describeError, type Lifecycle, type Log, stopSignal, systemClock,
} from "@lanthorn/runtime";
import { Command } from "commander";
import { addAdminCommands } from "./admin-commands.ts";
import { addBackupCommands } from "./backups/commands.ts";
import { finishSwap } from "./backups/swap.ts";
import type { Broker } from "./broker/broker.ts";
import { openBroker } from "./broker/open.ts";
import { openAuthority } from "./certificates/authority.ts";
import { publishCaCertificate } from "./certificates/authority-files.ts";
import { addCertificateCommand } from "./certificates/commands.ts";
import { machineNames } from "./certificates/names.ts";
import { openServerCertificate } from "./certificates/server-certificate.ts";
import { type Configuration, readCollectorConfiguration } from "./configuration.ts";
import { prepareDataDir, readPem, tokenSecret } from "./data-dir.ts";
import { awaitDatabase } from "./db/await.ts";
import { createAssets } from "./documents/assets.ts";
import { createDocuments } from "./documents/documents.ts";
import { documentRoutes } from "./documents/routes.ts";
import { createLiveEvents } from "./events/live.ts";
import { createEventLog, type EventLog } from "./events/log.ts";
import { createStreamSockets } from "./events/stream-socket.ts";
import { createGateway } from "./gateway/app.ts";
import { tiersOf } from "./gateway/tiers.ts";
import { createIdempotency } from "./gateway/idempotency.ts";
import { createIdempotencyStore } from "./gateway/idempotency-store.ts";
import { databaseHealth, databaseMoves, diskHealth, healthRoutes, withoutReason } from "./gateway/health.ts";
import { openListeners } from "./gateway/open.ts";
import { createRemotes } from "./gateway/proxy/remotes.ts";
import { createProxiedSockets } from "./gateway/proxy/sockets.ts";
import type { ServiceRoutes } from "./gateway/services.ts";
import { isWildcard } from "./gateway/url-host.ts";
import { createMerges } from "./identity/merges.ts";
import { createRecomparison } from "./identity/recomparison.ts";
import { createIngest } from "./ingest/ingest.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { readingsOf } from "./metrics/readings.ts";
import { metricsRoutes } from "./metrics/routes.ts";
import { addLicenseCommands } from "./license-commands.ts";
import { openKeyring } from "./sealing/keyring.ts";
import { createSealing } from "./sealing/sealing.ts";
import { openRetention } from "./retention/open.ts";
import { addMigrateCommand } from "./migrate-command.ts";
import { openAgents } from "./services/agents/open.ts";
import { auditRoutes } from "./services/audit/routes.ts";
import { createAudit } from "./services/audit/audit.ts";
import { createAuditService } from "./services/audit/service.ts";
import { createAuditStore } from "./services/audit/store.ts";
import { createAlerts } from "./services/alerts/alerts.ts";
import { raiseAlerts } from "./services/alerts/raise-alerts.ts";
import { openCmod } from "./services/cmod/open.ts";
import { openBackups } from "./services/backups/open.ts";
import { createDevices } from "./services/devices/devices.ts";
import { openDiplomat } from "./services/diplomat/open.ts";
import { createIpam } from "./services/ipam/ipam.ts";
import { diplomatRoutes } from "./services/diplomat/routes.ts";
import { openLicense } from "./services/license/open.ts";
import { prepareFirstStart } from "./services/people/first-start.ts";
import { createPasswords } from "./services/people/passwords.ts";
import { createPeople } from "./services/people/people.ts";
import { createPeopleStore } from "./services/people/store.ts";
import { readTokenKey } from "./services/people/token-key.ts";
import { openReplicas, usingSecrets } from "./replicas/open.ts";
import { noteScanFacts } from "./services/scans/note-scan-facts.ts";
import { createScans } from "./services/scans/scans.ts";
import { sitesRoutes } from "./services/sites/routes.ts";
import { createSitesService, DEFAULT_SITE_CONFIGURATION } from "./services/sites/service.ts";
import { createSitesStore } from "./services/sites/store.ts";
import { noteNeighbors } from "./services/topology/note-neighbors.ts";
import { createTopology } from "./services/topology/topology.ts";
import { openVault } from "./services/vault/open.ts";

const VERSION = (createRequire(import.meta.url)("../package.json") as { readonly version: string }).version;
/** How this program is run once more, for work that wants a process of its own. */
const PROGRAM = [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url)] as const;
const CLOSE_TIMEOUT_MS = 20_000;
const clock = systemClock;

interface Running {
  readonly ready: { readonly url: string; readonly https_url: string | null; readonly mqtt_url: string };
  readonly isAlive: () => Promise<boolean>;
}

/** Opens every part, each after what it stands on; `lifecycle` closes them the other way round, the database last. */
async function start(configuration: Configuration, log: Log, lifecycle: Lifecycle): Promise<Running> {
  const { data_dir: dataDir } = configuration;
  prepareDataDir(dataDir);
  if (finishSwap(dataDir)) log.warn({ data_dir: dataDir }, "a restore that was interrupted is ended");
  const database = await awaitDatabase(configuration.database_location, { waitSeconds: configuration.database.wait_seconds, clock, log });
  lifecycle.onClose("database", database.close);
  const { db, reads } = database;

  const passwords = createPasswords();
  const peopleStore = createPeopleStore(database);
  const first = await prepareFirstStart({
    store: peopleStore, passwords, clock, dataDir, password: configuration.admin.password, siteConfiguration: DEFAULT_SITE_CONFIGURATION,
  });
  if (first?.generated) {
    const { password, file } = first.generated;
    process.stderr.write(`first start: the user is ${first.username}, the password ${password} (kept in ${file})\n`);
  }
  const sealing = createSealing(openKeyring(dataDir, configuration.sealing_key));
  const replicas = await openReplicas({ db, sealing, dataDir, clock, log, lifecycle });
  const { limiter, upkeep, duty } = replicas;
  const secret = await tokenSecret(configuration, replicas.secrets);
  const { key_file: keyFile } = configuration.token;
  const audit = createAudit({ clock });
  const people = createPeople({
    store: peopleStore, passwords, db, reads, audit, clock, log, tokenLifetimeSeconds: configuration.token.lifetime_seconds,
    tokenKey: keyFile === undefined ? { secret } : { privateKey: readTokenKey(keyFile) },
  });
  lifecycle.onClose("people", () => people.close());

  const diplomat = openDiplomat(configuration, {
    db, reads, audit, sealing, ownersOf: (tenantId) => peopleStore.ownerAddresses(tenantId), clock, upkeep, log, version: VERSION,
  });
  lifecycle.onClose("webhook deliveries", () => diplomat.close());
  await diplomat.start();
  const eventLog: EventLog = createEventLog({
    reads, enqueue: diplomat.enqueue,
    async onAppend(trx, tenantId, rows) {
      await noteScanFacts(trx, tenantId, rows);
      await noteNeighbors(trx, tenantId, rows);
      await raiseAlerts(trx, tenantId, rows, eventLog);
    },
  });
  const live = createLiveEvents({ log: eventLog, clock, logger: log });
  let tellOthers: Broker["announce"] = () => {};
  const published = (tenantId: string, fromSeq: number) => {
    live.published(tenantId, fromSeq);
    diplomat.published(tenantId);
    tellOthers(tenantId);
  };
  replicas.follow(() => live.refresh());
  openRetention(configuration, { db, reads, clock: upkeep, log, lifecycle });
  // For services that append to the log, and whose schedule is one collector's of several.
  const parts = { db, reads, log: eventLog, published, audit, clock: upkeep, logger: log };
  const alerts = createAlerts(parts, { keepDays: configuration.alerts.keep_days });
  lifecycle.onClose("alerts", () => alerts.close());

  const license = openLicense(configuration, { ...parts, lifecycle });
  const ipam = createIpam(parts);
  lifecycle.onClose("conflicts of addresses", () => ipam.close());
  const cmod = openCmod(configuration, { ...parts, sealing, lifecycle });

  const authority = await openAuthority({ dataDir, secrets: replicas.secrets, clock });
  publishCaCertificate(dataDir, authority);
  const { https, mqtt } = configuration;
  const names = () => [...machineNames(), ...https.names, ...[https.host, mqtt.host].filter((host) => !isWildcard(host))];
  const certificate = await openServerCertificate({ authority, dataDir, names, clock, log });
  lifecycle.onClose("server certificate", () => certificate.close());

  const topology = createTopology({ reads, clock });
  const onConfigured = (probeIds: readonly string[]) => ingest.configured({ probeIds });
  const vault = openVault({ db, reads, sealing, audit, clock, log, onHanded: onConfigured });
  const agents = openAgents({
    db, reads, audit, authority, limiter, credentials: vault.credentials, clock, log, lifecycle, onConfigured,
    mqttUrl: (host) => mqttUrl(host),
    async onRevoked(probeId) {
      broker.disconnect(probeId);
      await ingest.revoked(probeId);
      await alerts.probeRevoked(probeId);
    },
  });
  const { broker, mqttUrl } = await openBroker(configuration, { authority, certificate, secret, clock, admit: agents.admit, log });
  lifecycle.onClose("broker", () => broker.close());
  const scans = createScans({ ...parts, broker }, { keepDays: configuration.scans.keep_days });
  lifecycle.onClose("scans", () => scans.close());
  const backups = openBackups(configuration, parts, { program: PROGRAM, version: VERSION });
  lifecycle.onClose("backups", () => backups.close());
  await backups.run();
  const metrics = createMetrics();
  metrics.watchProcess();
  const merges = createMerges({ audit, clock });
  const recomparison = createRecomparison({ db, reads, merges, clock: upkeep, log });
  lifecycle.onClose("comparison of devices", () => recomparison.close());
  const ingest = createIngest({
    registry: agents.registry, db, reads, log: eventLog, merges, published, broker, clock, logger: log, commands: scans,
    measure: metrics.ingest, silentAfterSeconds: configuration.probes.silent_after_seconds, duty,
  });
  lifecycle.onClose("ingest", () => ingest.close());
  await ingest.start();
  await broker.start(ingest, replicas.peersOf(live, ingest));
  tellOthers = (tenantId) => broker.announce(tenantId);

  const tiers = tiersOf(configuration);
  const idempotency = createIdempotency({ store: createIdempotencyStore({ db, clock, secret }), clock, log });
  lifecycle.onClose("idempotency keys", () => idempotency.close());
  const remotes = createRemotes(configuration.services, { clock, readPem });
  lifecycle.onClose("services behind the gateway", () => remotes.close());
  const health = healthRoutes({
    version: VERSION, clock, log,
    parts: {
      database: databaseHealth(database), disk: diskHealth(dataDir),
      broker: withoutReason(() => broker.health()), ingest: withoutReason(() => ingest.health()), ingest_lag: () => ingest.lag(),
      deliveries: () => diplomat.health(), licenses: license.health, ...remotes.parts,
    },
  });
  const services: ServiceRoutes = {
    gateway: [
      ...people.routes,
      createDevices({ db, reads, audit, merges, clock, neighborsOf: topology.neighborsOf }),
      topology.routes,
      sitesRoutes(
        createSitesService({ store: createSitesStore(database), audit, clock, onConfigured: (siteId) => ingest.configured({ siteId }) }),
      ),
      scans.routes,
      alerts.routes,
      backups.routes,
      auditRoutes(createAuditService({ store: createAuditStore({ reads }), clock })),
      health,
    ],
    agents: [agents.routes],
    vault: [vault.routes],
    cmod: [cmod],
    license: [license.routes],
    ipam: ipam.routes,
    diplomat: [diplomatRoutes(diplomat.service)],
  };
  const app = createGateway({
    clock, log, authentication: people.authentication, limiter, tiers, idempotency, health, services: remotes.mount(services),
    origins: configuration.cors.origins, measure: metrics.request,
    gatewaySecret: configuration.gateway.secret === undefined ? null : new TextEncoder().encode(configuration.gateway.secret),
    atRoot: [
      documentRoutes({
        documents: createDocuments({ routes: services, version: VERSION }), assets: createAssets(), isPublic: configuration.docs.public,
      }),
      metricsRoutes({ metrics, allow: configuration.metrics.allow }),
    ],
  });
  const streams = createStreamSockets({ live, authentication: people.authentication, limiter, tiers, clock, log });
  metrics.watch(readingsOf({ reads, ingest, broker, streams }));
  const proxied = createProxiedSockets({ remotes: remotes.all, authentication: people.authentication, limiter, tiers, clock, log });
  const places = await openListeners(configuration, {
    authority, certificate, lifecycle, clock, log,
    fetch: (request, bindings) => app.fetch(request, bindings),
    onUpgrade(upgrade) {
      if (!proxied.take(upgrade)) streams.onUpgrade(upgrade);
    },
    async closeStreams() {
      proxied.close();
      await streams.close();
    },
  });
  return {
    ready: { ...places, mqtt_url: mqttUrl(mqtt.host) },
    isAlive: () => databaseMoves(database),
  };
}

async function run(configuration: Configuration): Promise<void> {
  const log = createLog({ name: "lanthorn-collector", level: configuration.log_level });
  const lifecycle = createLifecycle({ log, closeTimeoutMs: CLOSE_TIMEOUT_MS });
  const stopped = stopSignal();
  try {
    const { ready, isAlive } = await start(configuration, log, lifecycle);
    const manager = createServiceManager({ environment: process.env, clock, log, alive: isAlive });
    lifecycle.onClose("service manager", () => manager.close());
    process.stdout.write(`ready ${JSON.stringify({ ...ready, pid: process.pid })}\n`);
    manager.ready(`serving ${ready.url}`);
    log.info({ ...ready, version: VERSION }, "ready");
    log.info({ signal: await stopped }, "stopping");
    await manager.stopping();
  } finally {
    await lifecycle.close();
  }
}

const program = new Command("lanthorn-collector").description("Stores what Lanthorn's probes see, and serves it.").version(VERSION);
program.command("run", { isDefault: true })
  .description("runs until SIGINT or SIGTERM; one line `ready {…}` on standard output says that it serves")
  .option("--config <file>", "configuration in TOML; without it /etc/lanthorn/collector.toml where there is one")
  .option("--check-config", "only checks the configuration")
  .action(async (options: { readonly config?: string; readonly checkConfig?: boolean }) => {
    const configuration = readCollectorConfiguration(options.config ?? null, process.env);
    if (options.checkConfig) process.stdout.write("the configuration is valid\n");
    else await run(configuration);
  });
const print = (text: string) => void process.stdout.write(`${text}\n`);
addLicenseCommands(program, { clock, print });
addMigrateCommand(program, { print });
const configuration = (file: string | null) => readCollectorConfiguration(file, process.env);
const given = { configuration, clock, print };
addCertificateCommand(program, { ...given, usingSecrets });
addAdminCommands(program, { ...given, operator: process.env["SUDO_USER"] ?? userInfo().username });
addBackupCommands(program, {
  ...given, version: VERSION, input: process.stdin, exit: (code) => process.exit(code), environment: process.env,
});
try {
  await program.parseAsync();
  process.exit();
} catch (error) {
  process.stderr.write(`lanthorn-collector: ${describeError(error)}\n`);
  process.exit(1);
}
