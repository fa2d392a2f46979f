import { createVendorLookup } from "@lanthorn/fingerprints";
import type { Clock, Lifecycle, Log } from "@lanthorn/runtime";
import { createSigner, generateSigningKey, publishSigner, SIGNING_KEY_NAME } from "./backups/signing.ts";
import { finishSwap } from "./backups/swap.ts";
import type { Broker } from "./broker/broker.ts";
import { openBroker } from "./broker/open.ts";
import { publishCaCertificate } from "./certificates/authority-files.ts";
import { openAuthority } from "./certificates/authority.ts";
import { machineNames } from "./certificates/names.ts";
import { openServerCertificate } from "./certificates/server-certificate.ts";
import type { Configuration } from "./configuration.ts";
import { prepareDataDir, tokenSecret } from "./data-dir.ts";
import { awaitDatabase } from "./db/await.ts";
import { siteExists } from "./db/site-exists.ts";
import { createLiveEvents } from "./events/live.ts";
import { createEventLog } from "./events/log.ts";
import { createReactions } from "./events/reaction.ts";
import { databaseHealth, databaseMoves, diskHealth, withoutReason } from "./gateway/health.ts";
import { streamLimits } from "./gateway/limits-configuration.ts";
import { openGateway } from "./open-gateway.ts";
import type { ServiceRoutes } from "./gateway/services.ts";
import { createStreamSessions } from "./gateway/stream-sessions.ts";
import { isWildcard } from "./gateway/url-host.ts";
import { createMerges } from "./identity/merges.ts";
import { createRecomparison } from "./identity/recomparison.ts";
import { createIngest } from "./ingest/ingest.ts";
import { DEFAULT_QUOTA } from "./ingest/quota.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { REACTION_ORDER, REACTIONS, type ServiceReactions } from "./reactions.ts";
import { openReplicas } from "./replicas/open.ts";
import { keepOf, openRetention } from "./retention/open.ts";
import { openKeyring } from "./sealing/keyring.ts";
import { createSealing } from "./sealing/sealing.ts";
import { openAgents } from "./services/agents/open.ts";
import { createAlerts } from "./services/alerts/alerts.ts";
import { createAlertReaction } from "./services/alerts/reaction.ts";
import { createAudit } from "./services/audit/audit.ts";
import { auditRoutes } from "./services/audit/routes.ts";
import { createAuditService } from "./services/audit/service.ts";
import { createAuditStore } from "./services/audit/store.ts";
import { openBackups } from "./services/backups/open.ts";
import { openCmod } from "./services/cmod/open.ts";
import { createDevices } from "./services/devices/devices.ts";
import { eventsRoutes } from "./services/events/routes.ts";
import { createEventsService } from "./services/events/service.ts";
import { createEventsStore } from "./services/events/store.ts";
import { openFiles } from "./services/files/open.ts";
import { openDiplomat } from "./services/diplomat/open.ts";
import { diplomatRoutes } from "./services/diplomat/routes.ts";
import { createIpam } from "./services/ipam/ipam.ts";
import { openLicense } from "./services/license/open.ts";
import { prepareFirstStart } from "./services/people/first-start.ts";
import { createPasswords } from "./services/people/passwords.ts";
import { createPeople } from "./services/people/people.ts";
import { createPeopleStore } from "./services/people/store.ts";
import { readTokenKey } from "./services/people/token-key.ts";
import { scanReaction } from "./services/scans/reaction.ts";
import { createScans } from "./services/scans/scans.ts";
import { sitesRoutes } from "./services/sites/routes.ts";
import { createSitesService, DEFAULT_SITE_CONFIGURATION } from "./services/sites/service.ts";
import { createSitesStore } from "./services/sites/store.ts";
import { neighborReaction } from "./services/topology/neighbor-reaction.ts";
import { switchReaction } from "./services/topology/switch-reaction.ts";
import { createTopology } from "./services/topology/topology.ts";
import { openVault } from "./services/vault/open.ts";

/** A collector that serves. */
export interface OpenCollector {
  readonly ready: { readonly url: string; readonly https_url: string | null; readonly mqtt_url: string };
  readonly isAlive: () => Promise<boolean>;
}

interface CollectorDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  readonly version: string;
  /** How this program is run once more, for work that wants a process of its own. */
  readonly program: readonly [string, ...string[]];
}

/** Opens every part, each after what it stands on; `lifecycle` closes them the other way round, the database last. */
export async function openCollector(configuration: Configuration, deps: CollectorDependencies): Promise<OpenCollector> {
  const { clock, log, lifecycle, version } = deps;
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
  const sessions = createStreamSessions({
    authentication: { again: (identity) => people.authentication.again(identity) }, limits: streamLimits(configuration.streams), clock,
  });
  let tellOthersOfAccess: Broker["announceAccess"] = () => {};
  const people = createPeople({
    onAccessChanged(tenantId) {
      sessions.accessChanged(tenantId);
      tellOthersOfAccess(tenantId);
    },
    store: peopleStore, passwords, db, reads, audit, clock, log, tokenLifetimeSeconds: configuration.token.lifetime_seconds,
    tokenKey: keyFile === undefined ? { secret } : { privateKey: readTokenKey(keyFile) },
  });
  lifecycle.onClose("people", () => people.close());

  const diplomat = openDiplomat(configuration, {
    db, reads, audit, sealing, ownersOf: (tenantId) => peopleStore.ownerAddresses(tenantId), clock, upkeep, log, version,
  });
  lifecycle.onClose("webhook deliveries", () => diplomat.close());
  await diplomat.start();
  const reactions: ServiceReactions = {
    alerts: createAlertReaction({ maxOpen: configuration.alerts.keep_open }), neighbors: neighborReaction, switches: switchReaction,
    scans: scanReaction, deliveries: diplomat.reaction,
  };
  const eventLog = createEventLog({ reads, reactions: createReactions(REACTIONS, REACTION_ORDER, reactions) });
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
    onSuperseded: (probeId, key) => broker.disconnect(probeId, { except: key }),
  });
  const files = openFiles(configuration, { db, reads, admit: agents.admit, clock, log, lifecycle });
  const { broker, mqttUrl } = await openBroker(configuration, { authority, certificate, secret, clock, admit: agents.admit, log });
  lifecycle.onClose("broker", () => broker.close());
  const scans = createScans({ ...parts, broker }, { keepDays: configuration.scans.keep_days });
  lifecycle.onClose("scans", () => scans.close());
  const signingKey = await replicas.secrets.keep(SIGNING_KEY_NAME, () => Promise.resolve(generateSigningKey()));
  publishSigner(dataDir, createSigner(signingKey));
  const backups = openBackups(configuration, { ...parts, isConfirmed: people.isConfirmed }, { program: deps.program, version, signingKey });
  lifecycle.onClose("backups", () => backups.close());
  await backups.run();
  const metrics = createMetrics();
  metrics.watchProcess();
  const merges = createMerges({ audit, clock });
  const recomparison = createRecomparison({ db, reads, merges, clock: upkeep, log });
  lifecycle.onClose("comparison of devices", () => recomparison.close());
  const ingest = createIngest({
    registry: agents.registry, db, reads, log: eventLog, merges, projections: REACTIONS, published, broker, clock, logger: log, commands: scans,
    measure: metrics.ingest, silentAfterSeconds: configuration.probes.silent_after_seconds, duty,
    keep: keepOf(configuration.inventory),
    quota: {
      bytesPerMinute: configuration.probes.quota_megabytes_per_minute * 1e6,
      // An external broker brings all probes' messages by one connection: who is held back there holds up all.
      maxHoldMs: mqtt.url === undefined ? DEFAULT_QUOTA.maxHoldMs : 0,
    },
  });
  lifecycle.onClose("ingest", () => ingest.close());
  await ingest.start();
  await broker.start(ingest, replicas.peersOf(live, ingest, sessions));
  tellOthers = (tenantId) => broker.announce(tenantId);
  tellOthersOfAccess = (tenantId) => broker.announceAccess(tenantId);

  const services: ServiceRoutes = {
    gateway: [
      ...people.routes,
      createDevices({
        db, reads, audit, merges, clock, log: eventLog, published, neighborsOf: topology.neighborsOf, ...createVendorLookup(),
      }),
      topology.routes,
      eventsRoutes(createEventsService({ store: createEventsStore({ reads }), log: eventLog, clock })),
      sitesRoutes(
        createSitesService({ store: createSitesStore(database), audit, clock, onConfigured: (siteId) => ingest.configured({ siteId }) }),
      ),
      scans.routes,
      alerts.routes,
      backups.routes,
      auditRoutes(createAuditService({ store: createAuditStore({ reads }), clock })),
    ],
    agents: [agents.routes, files],
    vault: [vault.routes],
    cmod: [cmod],
    license: [license.routes],
    ipam: ipam.routes,
    diplomat: [diplomatRoutes(diplomat.service)],
  };
  const urls = await openGateway(configuration, {
    clock, log, lifecycle, version, db, authentication: people.authentication, limiter, secret, services, authority, certificate, live, metrics,
    sessions, siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    healthParts: {
      database: databaseHealth(database), disk: diskHealth(dataDir),
      broker: withoutReason(() => broker.health()), ingest: withoutReason(() => ingest.health()), ingest_lag: () => ingest.lag(),
      deliveries: () => diplomat.health(), licenses: license.health,
    },
    watched: { reads, ingest, broker },
  });
  return {
    ready: { ...urls, mqtt_url: mqttUrl(mqtt.host) },
    isAlive: () => databaseMoves(database),
  };
}
