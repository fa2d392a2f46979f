import { join } from "node:path";
import { BundleManifest } from "@lanthorn/contract";
import { createVendorLookup } from "@lanthorn/fingerprints";
import { toInstant } from "@lanthorn/runtime";
import { createSigner, generateSigningKey, publishSigner, SIGNING_KEY_NAME } from "./backups/format/signing.ts";
import type { Broker } from "./broker/broker.ts";
import type { Configuration } from "./configuration.ts";
import { hasRowLocks } from "./db/row-locks.ts";
import type { EventLog } from "./events/log.ts";
import type { Merges } from "./identity/merging/merges.ts";
import type { Ingest } from "./ingest/ingest.ts";
import type { ProbeServices } from "./ingest/messages/take-messages.ts";
import type { Base, CollectorDependencies } from "./open-base.ts";
import type { ServiceModule } from "./service-module.ts";
import { openAgents } from "./services/agents/open.ts";
import { createAlerts } from "./services/alerts/alerts.ts";
import { openAnomalies } from "./services/anomalies/open.ts";
import { openAudit } from "./services/audit/open.ts";
import { openBackups } from "./services/backups/open.ts";
import { openBaselines } from "./services/baselines/open.ts";
import { openBundles } from "./services/bundles/open.ts";
import { createPublication } from "./services/bundles/publish.ts";
import { type BundlesStore, createBundlesStore } from "./services/bundles/store.ts";
import { openConfigVersions } from "./services/config-versions/open.ts";
import { openCve } from "./services/cve/open.ts";
import { openDevices } from "./services/devices/open.ts";
import { openDiplomat } from "./services/diplomat/open.ts";
import { openDns } from "./services/dns/open.ts";
import { openEvents } from "./services/events/open.ts";
import { openFeeds } from "./services/feeds/open.ts";
import { openFiles } from "./services/files/open.ts";
import { openGuards } from "./services/guards/open.ts";
import { openHoneypots } from "./services/honeypots/open.ts";
import { openIds } from "./services/ids/open.ts";
import { createIpam } from "./services/ipam/ipam.ts";
import { openLicense } from "./services/license/open.ts";
import { createScans } from "./services/scans/scans.ts";
import { openPcap } from "./services/pcap/open.ts";
import { openSites } from "./services/sites/open.ts";
import { createTopology } from "./services/topology/topology.ts";
import { openVault } from "./services/vault/open.ts";
import { openWorkspace } from "./services/workspace/open.ts";

/** What services use of the rest of the collector, beside its base. */
interface ServiceLinks {
  readonly eventLog: EventLog;
  /** To be called after events of a tenant were committed. */
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly merges: Merges;
  readonly broker: Broker;
  /** Where probes find the broker that reached the collector under `host`. */
  readonly mqttUrl: (host: string) => string;
  /** Ingest is opened after the services. */
  readonly ingest: () => Pick<Ingest, "configured" | "revoked">;
}

/** All services, and what others than the gateway use of three of them. */
interface Services {
  readonly modules: readonly ServiceModule[];
  readonly agents: ReturnType<typeof openAgents>;
  /** Whoever sends commands to probes. */
  readonly commands: NonNullable<ProbeServices["commands"]>;
  readonly diplomat: ReturnType<typeof openDiplomat>;
  /** To be called after software may have been committed. */
  readonly softwareChanged: () => void;
}

/** The services of a collector: a new one is a line in the list. None imports another: it is passed the function here. */
export async function openServices(
  configuration: Configuration, deps: CollectorDependencies, base: Base, links: ServiceLinks,
): Promise<Services> {
  const { alerts: alertSettings, scans: scanSettings } = configuration;
  const { clock, log, version } = deps;
  const { database: { db, reads }, sealing, audit, auth, authStore } = base;
  const { broker, ingest, merges, published } = links;
  const own = { db, reads, sealing, audit, clock, log };
  /** For services that append to the event log. */
  const parts = { db, reads, sealing, audit, clock, log: links.eventLog, published, logger: log };
  const onConfigured = (probeIds: readonly string[]) => ingest().configured({ probeIds });

  const topology = createTopology(parts);
  const alerts = createAlerts(parts, { keepDays: alertSettings.keep_days, maxOpen: alertSettings.keep_open });
  const scans = createScans({ ...parts, broker }, { keepDays: scanSettings.keep_days });
  const vault = openVault({ ...own, onHanded: onConfigured });
  const onSite = (siteId: string) => ingest().configured({ siteId });
  const guards = openGuards({ ...own, broker, onConfigured: onSite });
  const ipam = createIpam(parts);
  const honeypots = openHoneypots({ ...own, broker, onConfigured: onSite, freeAddress: ipam.freeAddress });
  const pcap = openPcap(configuration, { ...parts, broker, contents: () => files.contents, onConfigured: onSite });
  const bundles = createBundlesStore(base.database);
  const anomalies = openAnomalies({ ...own, onConfigured: onSite, resolveAlert: alerts.resolve, ask: pcap.ask, capturesOf: pcap.capturesOf, publishCountries: createCountriesPublisher(bundles, { authority: base.authority, clock }) }, { keepDays: alertSettings.keep_days });
  const agents = openAgents({
    ...own, bundles, guards, anomalies, captures: pcap, decoys: honeypots, authority: base.authority, limiter: base.replicas.limiter, credentials: vault.credentials, onConfigured, mqttUrl: links.mqttUrl,
    async onRevoked(probeId) {
      broker.disconnect(probeId);
      await ingest().revoked(probeId);
      await alerts.probeRevoked(probeId);
    },
    onSuperseded: (probeId, key) => broker.disconnect(probeId, { except: key }),
  });
  const files = openFiles(configuration, { ...own, admit: agents.admit, onCapture: pcap.fileCame });
  const diplomat = openDiplomat(configuration, { ...own, ownersOf: (tenantId) => authStore.ownerAddresses(tenantId), version });
  const { secrets } = base.replicas;
  const signingKey = await secrets.keep(SIGNING_KEY_NAME, () => Promise.resolve(generateSigningKey()));
  publishSigner(configuration.data_dir, createSigner(signingKey));

  const backups = openBackups(configuration, { ...parts, isConfirmed: auth.isConfirmed }, { program: deps.program, version, signingKey });
  const cve = openCve(configuration, {
    ...parts, program: deps.program, lease: base.replicas.lease,
    shared: hasRowLocks(db) && configuration.feeds.directory !== undefined ? join(configuration.feeds.directory, "cve-database") : null,
  });
  const feeds = openFeeds(configuration, { ...parts, version, operatorTenant: backups.operatorTenant, consumers: { cve: (given, options) => cve.takeFeeds(given.flatMap(({ format, ...feed }) => (format === "rir-delegated" ? [] : [{ ...feed, format }])), options), countries: anomalies.takeCountries }, loaded: cve.loaded, refresh: cve.refresh });
  const bundled = { ...own, events: links.eventLog, published, publish: publisherOf(bundles, { authority: base.authority, clock }), fetchFile: feeds.fetchFile, addressesOf: feeds.addressesOf, onPublished: onSite };
  const ids = openIds(configuration, { ...bundled, captures: pcap.downloads });
  const dns = openDns(configuration, bundled);

  const modules: readonly ServiceModule[] = [
    auth,
    diplomat,
    openDevices(configuration, { ...parts, merges, neighborsOf: topology.neighborsOf, cvesOf: cve.cvesOf, devicesWith: cve.devicesWith, ...createVendorLookup() }),
    topology,
    openWorkspace(own),
    openEvents(configuration, parts),
    openSites({ ...own, onConfigured: onSite }),
    scans,
    alerts,
    backups,
    openAudit(configuration, parts),
    agents,
    files,
    pcap,
    openBundles(bundles, { ...own, admit: agents.admit, onPublished: onConfigured }),
    vault,
    openConfigVersions(configuration, parts),
    openLicense(configuration, parts),
    ipam,
    guards,
    anomalies,
    feeds,
    ids,
    dns,
    honeypots,
    cve,
    openBaselines({ ...parts, topologyOf: topology.topologyOf, networks: guards }, { keepDays: alertSettings.keep_days }),
  ];
  return { modules, agents, commands: commandsOf({ scans, pcap, guards, honeypots }), diplomat, softwareChanged: cve.softwareChanged };
}

/** Whose commands come up with a probe, and who reads its replies. */
function commandsOf({ scans, pcap, guards, honeypots }: {
  readonly scans: ReturnType<typeof createScans>; readonly pcap: ReturnType<typeof openPcap>; readonly guards: ReturnType<typeof openGuards>;
  readonly honeypots: ReturnType<typeof openHoneypots>;
}): Services["commands"] {
  return {
    async online(probe, runId) {
      await scans.online(probe, runId);
      await pcap.online(probe);
    },
    async replied(probe, reply) {
      await scans.replied(probe, reply);
      await guards.replied(probe, reply);
      await pcap.replied(probe, reply);
      await honeypots.replied(probe, reply);
    },
  };
}

/** Signs a site's bundle and keeps it. */
function publisherOf(bundles: BundlesStore, { authority, clock }: { readonly authority: Base["authority"]; readonly clock: CollectorDependencies["clock"] }) {
  return async ({ siteId, ...bundle }: Parameters<typeof createPublication>[1] & { readonly siteId: string }) => bundles.publish(await createPublication(authority, bundle), toInstant(clock.now()), siteId);
}

/** Signs a table of countries as the next version for all probes, unless the newest one is the same. */
function createCountriesPublisher(bundles: BundlesStore, { authority, clock }: { readonly authority: Base["authority"]; readonly clock: CollectorDependencies["clock"] }): Parameters<typeof openAnomalies>[0]["publishCountries"] {
  return async (files, sha256) => {
    const newest = await bundles.find("countries");
    const { version, parts } = newest === null ? { version: 0, parts: [] } : BundleManifest.parse(JSON.parse(newest.manifest));
    if (parts.some((part) => part.sha256 === sha256)) return false;
    return bundles.publish(await createPublication(authority, { name: "countries", version: version + 1, files }), toInstant(clock.now()));
  };
}
