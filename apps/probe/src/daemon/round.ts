import { createLifecycle, type Lifecycle } from "@lanthorn/runtime";
import { BLOCK_LISTS, COUNTRIES, FINGERPRINTS, INTRUSION_RULES } from "../bundles/names.ts";
import type { HealthWatch } from "../health/health.ts";
import { type Identity, readIdentity } from "../identity/identity.ts";
import type { Entry } from "../queue/entry.ts";
import type { Uplink } from "../uplink/uplink.ts";
import { createLiveness } from "./liveness.ts";
import type { DecoyLink, openDecoyLink as openDecoyLinkPart } from "./parts/open-decoy-link.ts";
import { openHealth } from "./parts/open-health.ts";
import type { DnsThreats } from "../dns-threats/threats.ts";
import { openDnsLists } from "./parts/dns/open-dns-lists.ts";
import type { openDnsThreats as openDnsThreatsPart } from "./parts/dns/open-dns-threats.ts";
import type { openResolverLink as openResolverLinkPart } from "./parts/dns/open-resolver-link.ts";
import type { ResolverListener } from "../resolver/link/resolver-listener.ts";
import type { openIntrusions as openIntrusionsPart, Intrusions } from "./parts/open-intrusions.ts";
import { openQueue } from "./parts/open-queue.ts";
import { openRenewal, openReplayEnd, openUplink } from "./parts/open-uplink.ts";
import type { openTraffic as openTrafficProcess, Traffic } from "./parts/open-traffic.ts";
import { openWatch } from "./parts/open-watch.ts";
import type { DaemonDeps, Inheritance, RoundContext, RoundEnd } from "./parts/round-context.ts";
import { openSiteConfiguration } from "./parts/site-modules.ts";
import { openTransfers } from "./parts/transfers.ts";

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
    // Not loaded where there is nothing for it to do: the quiet daemon has no use for it.
    const isTrafficRead = deps.configuration.traffic.interfaces.length > 0 && deps.replay === null;
    const openTraffic = isTrafficRead ? (await import("./parts/open-traffic.ts")).openTraffic : () => null;
    const { file, socket } = deps.configuration.ids.eve;
    const isEveRead = (file !== null || socket !== null) && deps.replay === null;
    const openIntrusions = isTrafficRead || isEveRead ? (await import("./parts/open-intrusions.ts")).openIntrusions : () => null;
    const isResolverRead = deps.configuration.dns.directory !== null && deps.replay === null;
    const openDnsThreats = isTrafficRead || isResolverRead ? (await import("./parts/dns/open-dns-threats.ts")).openDnsThreats : () => null;
    const openResolverLink = isResolverRead ? (await import("./parts/dns/open-resolver-link.ts")).openResolverLink : () => null;
    const openDecoyLink = deps.configuration.decoy.directory !== null && deps.replay === null ? (await import("./parts/open-decoy-link.ts")).openDecoyLink : () => null;
    return wire(deps, inheritance, lifecycle, { openTraffic, openIntrusions, openDnsThreats, openResolverLink, openDecoyLink });
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

/** The parts in their order: what hears the link begins last, and what is opened first is closed last. */
function wire(
  deps: DaemonDeps, inheritance: Inheritance | null, lifecycle: Lifecycle, { openTraffic, openIntrusions, openDnsThreats, openResolverLink, openDecoyLink }: {
    readonly openTraffic: (...parts: Parameters<typeof openTrafficProcess>) => Traffic | null;
    readonly openIntrusions: (...parts: Parameters<typeof openIntrusionsPart>) => Intrusions | null;
    readonly openDnsThreats: (...parts: Parameters<typeof openDnsThreatsPart>) => DnsThreats | null;
    readonly openResolverLink: (...parts: Parameters<typeof openResolverLinkPart>) => ResolverListener | null;
    readonly openDecoyLink: (...parts: Parameters<typeof openDecoyLinkPart>) => DecoyLink | null;
  },
): Round {
  const { configuration } = deps;
  let finish: (end: RoundEnd) => void = () => {};
  const ended = new Promise<RoundEnd>((resolve) => {
    finish = resolve;
  });
  let identity: Identity = deps.identity;
  let wake = () => {};
  let health: HealthWatch | null = null;
  const context: RoundContext = { ...deps, lifecycle, finish, identity: () => identity };
  let traffic: Traffic | null = null;
  const queue = openQueue(context, inheritance, { onAppended: () => wake(), onEvent: (event) => traffic?.onEvent(event) });
  let intrusions: Intrusions | null = null;
  let dnsThreats: DnsThreats | null = null;
  traffic = openTraffic(context, queue, {
    homeNetworks: () => configuration.ids.home_networks, onFinding: (finding) => intrusions?.report(finding),
    onDnsFinding: (finding) => dnsThreats?.report(finding),
    onRulesFailed: (reason) => takeBack(INTRUSION_RULES, reason),
  });
  const watch = openWatch(context, queue, {
    onReplayEnd: (problem) => replayEnd.onEnd(problem),
    onDatabasesBroken: (reason) => takeBack(FINGERPRINTS, reason),
  });
  intrusions = openIntrusions(context, queue, { watch, traffic });
  dnsThreats = openDnsThreats(context, queue, watch);
  const resolver = openResolverLink(context, queue, dnsThreats);
  const decoys = openDecoyLink(context, queue, { macAt: watch.discovery.macAt, onDecoys: () => health?.report() });
  const dnsLists = openDnsLists(context);
  const onBundle = (name: string) => {
    if (name === BLOCK_LISTS) {
      dnsLists?.changed();
      traffic?.changed("names");
    }
    if (name === COUNTRIES) traffic?.changed("countries");
    if (name !== INTRUSION_RULES) return;
    traffic?.changed("rules");
    intrusions?.rulesChanged();
  };
  const transfers = deps.replay ? null : openTransfers({ ...context, ...configuration, dataDir: configuration.data_dir, outbox: queue.outbox, onBundle, isUsed: isUsedWith({ dnsLists, traffic, configuration }) });
  const takeBack = (name: string, reason: string) => {
    transfers?.bundles.failed(name, reason);
    onBundle(name);
  };
  lifecycle.onClose("files", () => transfers?.close());
  const siteConfiguration = openSiteConfiguration(context, { watch, transfers, traffic, decoys, onState: () => health?.report() });
  const uplink: Uplink = openUplink(context, { ...queue, watch, siteConfiguration, traffic, decoys });
  wake = () => uplink.wake();
  const replayEnd = openReplayEnd(context, { ...queue, uplink });
  watch.begin();
  openRenewal(context, () => {
    identity = readIdentity(configuration.data_dir) ?? identity;
    uplink.restart();
  });
  const opened = openHealth(context, { ...queue, watch, uplink, siteConfiguration, transfers, traffic, intrusions, resolver, decoys });
  health = opened;
  return {
    ended,
    alive: createLiveness({
      turning: () => opened.turning(), outbox: () => queue.outbox.state(), counters: () => watch.lan.counters(),
    }),
    describe() {
      const { online, known } = watch.discovery.counts();
      const watching = watch.lan.problem() ?? `watching ${watch.interfaceName}`;
      return `${watching}; ${uplink.state().connected ? "connected" : "not connected"}; ${online} of ${known} hosts online`;
    },
    unwritten: () => queue.outbox.unwritten(),
    stop: () => lifecycle.close(),
  };
}

/** Bundles that this probe has a use for, as it is configured. */
function isUsedWith({ dnsLists, traffic, configuration }: { readonly dnsLists: object | null; readonly traffic: object | null; readonly configuration: RoundContext["configuration"] }) {
  return (name: string): boolean => {
    if (name === BLOCK_LISTS) return dnsLists !== null || (traffic !== null && configuration.traffic.dns.enabled);
    return name !== COUNTRIES || (traffic !== null && configuration.traffic.anomalies.enabled);
  };
}
