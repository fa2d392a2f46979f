import { join } from "node:path";
import type { VendorLookup } from "@lanthorn/fingerprints";
import * as packetIo from "@lanthorn/packet-io";
import { type Clock, createLifecycle, describeError, type Lifecycle, type Log } from "@lanthorn/runtime";
import { FINGERPRINTS } from "../bundles/names.ts";
import { createLiveClock, createReplayClock } from "../bus/bus-clock.ts";
import { type BusModule, createFrameBus } from "../bus/frame-bus.ts";
import { createLanWatch, type LanWatch } from "../capture/lan-watch.ts";
import { createNameServers } from "../naming/name-servers.ts";
import { createReplayWatch } from "../capture/replay-watch.ts";
import type { Configuration } from "../configuration.ts";
import { packetsPerSecond } from "../sweep/settings.ts";
import { createCredentials } from "../credentials/credentials.ts";
import { createHostDiscovery } from "../discover/host-discovery.ts";
import { createEgressPolicy } from "../egress/policy.ts";
import { ProbeError } from "../errors.ts";
import type { OpenIdentification } from "./open-identification.ts";
import { createHealthAlerts } from "../health/alerts.ts";
import { createHealthWatch, type HealthWatch } from "../health/health.ts";
import { createMachineReader } from "../health/machine.ts";
import { limitsOf } from "../health/metrics.ts";
import { certificateLifetime, type Identity, readIdentity } from "../identity/identity.ts";
import { createRenewalSchedule } from "../identity/renewal-schedule.ts";
import { createNeighborListener } from "../listen/neighbor-listener.ts";
import { openDeepLook } from "../nmap/open.ts";
import type { FindProgram } from "../nmap/find-program.ts";
import { createLink, subnetsOf } from "../capture/link.ts";
import { openProbeDatabase } from "../queue/database.ts";
import type { Entry } from "../queue/entry.ts";
import { createOutbox } from "../queue/outbox.ts";
import { openScanLink } from "../probing/scan-link.ts";
import { createSnmpAccess } from "../snmp/access.ts";
import { openSwitches } from "../snmp/open.ts";
import { createSiteConfiguration } from "../uplink/site-configuration.ts";
import { createUplink, type Uplink } from "../uplink/uplink.ts";
import { createLiveness } from "./liveness.ts";
import { createReplayEnd } from "./replay-end.ts";
import { openTransfers } from "./transfers.ts";
import { createStatusWriter } from "./status-writer.ts";
import { commandHandlers } from "./command-handlers.ts";

/** What stays the same however often the database has to be replaced. */
export interface DaemonDeps {
  readonly configuration: Configuration;
  readonly identity: Identity;
  /** A capture file instead of the interface. */
  readonly replay: { readonly path: string; readonly exitWhenDrained: boolean } | null;
  readonly version: string;
  readonly vendorOf: VendorLookup["vendorOf"];
  /** Programs of the machine's own: nmap. */
  readonly findProgram: FindProgram;
  /** Gets a new certificate and keeps it with the identity. */
  readonly renewCertificate: () => Promise<void>;
  /** Verifies a bundle that was fetched, tries it, and puts it in its place. */
  readonly installBundle: (name: string, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** How a round ended: for good, or because the database has to be replaced. */
export type RoundEnd =
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "corrupt"; readonly reason: string };

/** What a round leaves to the next one when its database could not be used any more. */
export interface Inheritance {
  readonly reason: string;
  /** Events that it could not write. */
  readonly carry: readonly Entry[];
}

/** A running round, from opening the database to closing it. */
export interface Round {
  readonly ended: Promise<RoundEnd>;
  /** Whether the work moves on, for the watchdog. */
  alive(): boolean;
  /** One line of what it does. */
  describe(): string;
  unwritten(): readonly Entry[];
  stop(): Promise<void>;
}

/** Each part has this long to close; systemd waits 30 s for all. */
const CLOSE_TIMEOUT_MS = 4000;

/**
 * Wires one round of the daemon.
 * @throws ProbeError `already-running`, `storage-unavailable` or `config-invalid`; SqliteError for a database that fails at
 * its first use. What was opened is closed by then.
 */
export async function startRound(deps: DaemonDeps, inheritance: Inheritance | null): Promise<Round> {
  const lifecycle = createLifecycle({ log: deps.log, closeTimeoutMs: CLOSE_TIMEOUT_MS });
  try {
    return wire(deps, inheritance, lifecycle);
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

function wire(deps: DaemonDeps, inheritance: Inheritance | null, lifecycle: Lifecycle): Round {
  const { configuration, clock, random, log } = deps;
  let { identity } = deps;
  let finish: (end: RoundEnd) => void = () => {};
  const ended = new Promise<RoundEnd>((resolve) => {
    finish = resolve;
  });

  const database = openProbeDatabase(join(configuration.data_dir, "probe.db"), {
    clock, log, owner: identity.probe_id, ...(inheritance ? { distrust: inheritance.reason } : {}),
  });
  lifecycle.onClose("database", () => database.close());
  let uplink: Uplink | null = null;
  let healthWatch: HealthWatch | null = null;
  const outbox = createOutbox({
    db: database.db, clock, log,
    budgetBytes: configuration.queue.disk_budget_bytes,
    onAppended: () => uplink?.wake(),
    onCorrupt: (error) => finish({ kind: "corrupt", reason: describeError(error) }),
    quarantined: database.quarantined,
    ...(inheritance ? { carry: inheritance.carry } : {}),
  });
  lifecycle.onClose("outbox", () => outbox.close());

  const policy = createEgressPolicy({
    sweep: {
      enabled: configuration.sweep.enabled && deps.replay === null,
      intervalSeconds: configuration.sweep.interval_seconds,
      packetsPerSecond: packetsPerSecond(configuration.sweep),
      networks: configuration.networks,
      routed: configuration.sweep.routed,
    },
    scanPacketsPerSecond: configuration.scan.packets_per_second,
    scanNetworks: configuration.scan.networks,
    excluded: configuration.excluded,
  });
  const replayClock = deps.replay && createReplayClock(clock);
  const busClock = replayClock ?? createLiveClock(clock);
  const interfaceName = deps.replay ? "replay" : configuration.interface ?? "";
  const lan = openLan();
  const nameServers = createNameServers({
    servers: () => configuration.name_servers ?? lan.facts()?.gateways ?? [], isExcluded: policy.excludes,
  });
  const credentials = createCredentials({ identity: () => identity });
  const { snmp } = configuration;
  const access = deps.replay === null && snmp.enabled
    ? createSnmpAccess({ credentials, devices: snmp.devices, clock, reaches: (ip) => policy.reach.holds(ip, createLink(lan.facts())) })
    : null;
  let identification: OpenIdentification | null = null;
  lifecycle.onClose("identification", () => identification?.close());
  const discovery = createHostDiscovery({
    db: database.db, outbox, clock: busClock, random, log,
    interfaceFacts: () => lan.facts(),
    policy, maxHosts: configuration.max_hosts, unasked: deps.replay ? "all" : "paced",
    sender: lan.sender,
    vendorOf: deps.vendorOf,
    interfaceName,
    openScanLink: deps.replay
      ? null
      : (excluded, book) => openScanLink({ interface: interfaceName, excluded, random, ...(book ? { book } : {}) }),
    routeTo: async (address) => (deps.replay ? null : packetIo.readRoute(interfaceName, address)),
    // Loaded by the first scan that asks: its rules would cost the quiet daemon memory.
    identify: async (openPort, signal) => {
      const { openIdentification } = await import("./open-identification.ts");
      identification ??= openIdentification({
        dataDir: configuration.data_dir, access, random, clock, log, onBroken: (reason) => transfers?.bundles.failed(FINGERPRINTS, reason),
      });
      return identification.identify(openPort, signal);
    },
    vaultPorts: (ip) => access?.forHost(ip).map(({ settings }) => settings.port) ?? [],
    deepLook: deps.replay ? null : openDeepLook({ find: deps.findProgram, interfaceName: configuration.interface ?? "", clock }),
    reverseNames: deps.replay ? null : (address) => nameServers.reverseNames(address),
  });
  const neighbors = createNeighborListener({
    db: database.db, outbox, clock: busClock, log, interfaceName, ownMac: () => lan.facts()?.mac ?? "",
  });
  /** What hears the link. Another detector is another row. */
  const modules: readonly BusModule[] = [discovery, neighbors];
  const bus = createFrameBus({ modules, clock: busClock, log });
  const siteConfiguration = createSiteConfiguration({
    path: join(configuration.data_dir, "site-configuration.json"), apply: (wishes) => discovery.configure(wishes), log,
    async credentials(sealed) {
      const wrong = await credentials.take(sealed);
      if (wrong === null) switches?.onCredentials();
      return wrong;
    },
    onState: () => healthWatch?.look(),
  });

  const switches = access && openSwitches({
    db: database.db, outbox, access, clock, random, log, intervalMs: snmp.interval_seconds * 1000,
    announced: () => neighbors.managementAddresses(), isExcluded: policy.excludes,
  });

  function openLan(): LanWatch {
    const onFrames: packetIo.OnFrames = (batch) => bus.onFrames(batch);
    if (deps.replay && replayClock) {
      return createReplayWatch({
        path: deps.replay.path, networks: configuration.networks, openReplay: packetIo.openReplay, clock, onFrames,
        onEnd(problem) {
          lifecycle.onClose("time of the capture file", replayClock.follow());
          replayEnd.onEnd(problem);
        },
      });
    }
    return createLanWatch({
      interface: configuration.interface ?? "", packetIo, clock, random, log, onFrames,
      onDenied: (cause) =>
        finish({ kind: "failed", error: new ProbeError("missing-capability", "the probe may not capture frames", { cause }) }),
    });
  }

  uplink = createUplink({
    outbox, version: deps.version, clock, random, log,
    identity: { tenantId: identity.tenant_id, probeId: identity.probe_id },
    credentials: () => ({
      url: configuration.collector.mqtt_url ?? identity.mqtt_url, clientId: identity.probe_id,
      ca: identity.ca_certificate, certificate: identity.certificate, key: identity.private_key,
    }),
    handlers: commandHandlers(discovery, lan.looked),
    onConfiguration: (payload) => (siteConfiguration.onMessage(payload), announceBundles()),
    onConnected: () => discovery.reportAll(),
  });
  const link = uplink;
  lifecycle.onClose("uplink", () => link.close());
  const replayEnd = createReplayEnd({
    drained: () => link.drained(), lastSeq: () => outbox.state().lastSeq, clock, log,
    onDrained: deps.replay?.exitWhenDrained === true ? () => finish({ kind: "stopped" }) : null,
  });
  lifecycle.onClose("replay", () => replayEnd.close());
  lifecycle.onClose("name servers", () => nameServers.close());
  lifecycle.onClose("capture", () => lan.close());
  for (const module of modules) lifecycle.onClose(module.name, () => module.close?.());
  lifecycle.onClose("switches", () => switches?.close());
  lifecycle.onClose("frame bus", () => bus.close());
  bus.start();

  const renewal = createRenewalSchedule({
    lifetime: () => certificateLifetime(identity), renew: deps.renewCertificate, clock, random, log,
    onRenewed() {
      identity = readIdentity(configuration.data_dir) ?? identity;
      link.restart();
    },
  });
  lifecycle.onClose("renewal", () => renewal.close());
  const transfers = deps.replay ? null : openTransfers({
    configuration, identity: () => identity, outbox, installBundle: deps.installBundle, clock, random, log,
  });
  const announceBundles = () => transfers?.bundles.announced(siteConfiguration.current()?.bundles ?? []);
  announceBundles();
  lifecycle.onClose("files", () => transfers?.close());

  const alerts = createHealthAlerts({
    db: database.db, outbox, log, limits: limitsOf(configuration.health.limits), samples: configuration.health.samples,
  });
  const status = createStatusWriter({
    configuration, version: deps.version, interfaceName, clock, log,
    identity: () => identity, uplink: () => link.state(), outbox: () => outbox.state(), lan, alerts,
    siteName: () => siteConfiguration.current()?.site_name ?? null,
  });
  lifecycle.onClose("status", () => status.close());
  const health = createHealthWatch({
    sources: {
      machine: createMachineReader({ dataDir: configuration.data_dir, clock }),
      outbox: () => outbox.state(),
      capture: () => lan.counters(),
      interface: () => ({ name: interfaceName, up: deps.replay !== null || lan.facts()?.up === true, networks: subnetsOf(lan.facts()) }),
      hosts: () => discovery.counts(),
      clockOffsetMs: () => link.state().clockOffsetMs,
      certificateEndsAt: () => certificateLifetime(identity).to,
      configuration: () => siteConfiguration.state(),
      bundles: () => [...transfers?.bundles.state() ?? []],
    },
    alerts, clock,
    budgetBytes: configuration.queue.disk_budget_bytes,
    intervalMs: configuration.health.interval_seconds * 1000,
    version: deps.version,
    onHealth(report) {
      link.publishHealth(report);
      status.write(report);
      outbox.tidy();
    },
  });
  healthWatch = health;
  lifecycle.onClose("health", () => health.close());

  return {
    ended,
    alive: createLiveness({ turning: () => health.turning(), outbox: () => outbox.state(), counters: () => lan.counters() }),
    describe() {
      const { online, known } = discovery.counts();
      const watching = lan.problem() ?? `watching ${interfaceName}`;
      return `${watching}; ${link.state().connected ? "connected" : "not connected"}; ${online} of ${known} hosts online`;
    },
    unwritten: () => outbox.unwritten(),
    stop: () => lifecycle.close(),
  };
}
