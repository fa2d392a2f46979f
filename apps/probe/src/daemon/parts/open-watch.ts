import * as packetIo from "@lanthorn/packet-io";
import { type BusClock, createLiveClock, createReplayClock } from "../../bus/bus-clock.ts";
import { createFrameBus } from "../../bus/frame-bus.ts";
import type { LanWatch } from "../../capture/lan-watch.ts";
import { createLink } from "../../capture/link.ts";
import { createCredentials, type Credentials } from "../../credentials/credentials.ts";
import type { Guards } from "../../detect/guards.ts";
import type { HostDiscovery } from "../../discover/host-discovery.ts";
import { createNameServers, type NameServers } from "../../naming/name-servers.ts";
import { openNmapScanner } from "../../nmap/open.ts";
import { openScanLink } from "../../probing/scan-link.ts";
import { createCapturedClaims } from "../../search/answer-claims.ts";
import { createSnmpAccess, type SnmpAccess } from "../../snmp/access.ts";
import { openSwitches } from "../../snmp/open.ts";
import { createBusModules, NO_WAYS_OUT, policyOf } from "./bus-modules.ts";
import { createIdentify } from "./identify-on-demand.ts";
import { openLan } from "./open-lan.ts";
import type { Queue } from "./open-queue.ts";
import type { RoundContext } from "./round-context.ts";

/** What hears the link, and asks it. */
export interface Watch {
  readonly interfaceName: string;
  readonly lan: LanWatch;
  readonly discovery: HostDiscovery;
  readonly guards: Pick<Guards, "configure" | "learn" | "state" | "coverage" | "networkFacts">;
  readonly credentials: Credentials;
  /** The vault's credentials have changed. */
  onCredentials(): void;
  /** Hands frames and time to the modules. */
  begin(): void;
}

/**
 * @param events.onReplayEnd The capture file was read to its end, or in words why not.
 * @param events.onDatabasesBroken The databases of fingerprints failed before they had answered anything.
 * @throws ProbeError `config-invalid`.
 */
export function openWatch(context: RoundContext, { db, outbox }: Queue, events: {
  readonly onReplayEnd: (problem: string | null) => void;
  readonly onDatabasesBroken: (reason: string) => void;
}): Watch {
  const { configuration, random, log, lifecycle } = context;
  const { snmp } = configuration;
  const policy = policyOf(configuration, context.replay !== null);
  const replayClock = context.replay && createReplayClock(context.clock);
  const clock: BusClock = replayClock ?? createLiveClock(context.clock);
  const interfaceName = context.replay ? "replay" : configuration.interface ?? "";
  const { claim: claimAnswers, isClaimed: isLeftOut } = createCapturedClaims((bytes) => guards.needsAnswer(bytes));
  const lan = openLan(context, { replayClock, isLeftOut, onFrames: (batch) => bus.onFrames(batch), onReplayEnd: events.onReplayEnd });
  const nameServers = createNameServers({
    servers: () => configuration.name_servers ?? lan.facts()?.gateways ?? [], isExcluded: policy.excludes,
  });
  const credentials = createCredentials({ identity: context.identity });
  const access = context.replay === null && snmp.enabled
    ? createSnmpAccess({
      credentials, devices: snmp.devices, clock: context.clock, reaches: (ip) => policy.reach.holds(ip, createLink(lan.facts())),
    })
    : null;
  const { discovery, neighbors, guards, all: modules } = createBusModules({
    db, outbox, clock, random, log, policy, interfaceName, interfaceFacts: () => lan.facts(),
    maxHosts: configuration.max_hosts, unasked: context.replay ? "all" : "paced", sender: lan.sender, vendorOf: context.vendorOf, claimAnswers,
    guardSettings: configuration.guards,
    ...waysOut(context, { interfaceName, access, nameServers, onBroken: events.onDatabasesBroken }),
  });
  const switches = access && openSwitches({
    db, outbox, access, clock: context.clock, random, log, intervalMs: snmp.interval_seconds * 1000,
    announced: () => neighbors.managementAddresses(), isExcluded: policy.excludes,
  });
  const bus = createFrameBus({ modules, clock, log });
  return {
    interfaceName, lan, discovery, guards, credentials,
    onCredentials: () => switches?.onCredentials(),
    begin() {
      lifecycle.onClose("name servers", () => nameServers.close());
      lifecycle.onClose("capture", () => lan.close());
      for (const module of modules) lifecycle.onClose(module.name, () => module.close?.());
      lifecycle.onClose("switches", () => switches?.close());
      lifecycle.onClose("frame bus", () => bus.close());
      bus.start();
    },
  };
}

/** What scans and names go out by; with a capture file nothing does. */
function waysOut(context: RoundContext, { interfaceName, access, nameServers, onBroken }: {
  readonly interfaceName: string;
  readonly access: SnmpAccess | null;
  readonly nameServers: NameServers;
  readonly onBroken: (reason: string) => void;
}) {
  const { random, clock, configuration } = context;
  const shared = {
    identify: createIdentify(context, { access, onBroken }),
    vaultPorts: (ip: string) => access?.forHost(ip).map(({ settings }) => settings.port) ?? [],
  };
  if (context.replay) return { ...shared, ...NO_WAYS_OUT };
  return {
    ...shared,
    openScanLink: (excluded: () => packetIo.AddressSet, book?: Parameters<typeof openScanLink>[0]["book"]) =>
      openScanLink({ interface: interfaceName, excluded, random, ...(book ? { book } : {}) }),
    routeTo: (address: string) => packetIo.readRoute(interfaceName, address),
    nmap: openNmapScanner({ find: context.findProgram, interfaceName: configuration.interface ?? "", clock }),
    reverseNames: (address: string) => nameServers.reverseNames(address),
  };
}
