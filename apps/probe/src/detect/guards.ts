import type { PacedSender } from "@lanthorn/packet-io";
import { DHCP_PORT, ETHER_TYPE, type Frame, isNdpType, NDP_HOP_LIMIT } from "@lanthorn/packets";
import type { GuardsPart, GuardsState, ProbeCoverage } from "@lanthorn/contract/uplink";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import type { BusFrame, BusModule } from "../bus/frame-bus.ts";
import type { LinkFacts } from "../capture/link.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import { createPublisher, type EventSink } from "../queue/publisher.ts";
import { createAddressGuard } from "./addresses/address-guard.ts";
import { createDhcpServersGuard } from "./dhcp-servers/dhcp-servers.ts";
import { createCoverage } from "./coverage/coverage.ts";
import { createDhcpv6ServersGuard } from "./dhcpv6-servers/dhcpv6-servers.ts";
import { createDirectedProbes } from "./directed-probes.ts";
import type { Guard, GuardDeps, GuardFrame, LearnedRow } from "./guard.ts";
import { createGuardTimers } from "./guard-timers.ts";
import { createExceptionMatcher } from "./incidents/exceptions.ts";
import { createIncidentRegister } from "./incidents/incident-register.ts";
import { createIncidentsStore } from "./incidents/incidents-store.ts";
import { createIpv6TunnelsGuard } from "./ipv6-tunnels/ipv6-tunnels.ts";
import { createLearnedStore } from "./learned/learned-store.ts";
import { createLearningPeriod } from "./learned/learning-period.ts";
import { createLinkNeighborsGuard } from "./link-neighbors/link-neighbors.ts";
import { createMacFloodingGuard } from "./mac-flooding/mac-flooding.ts";
import { createNetworkFacts, type NetworkFacts } from "./network-facts/network-facts.ts";
import { createNamePoisoningGuard } from "./name-poisoning/name-poisoning.ts";
import { createRouterAdvertisementsGuard } from "./router-advertisements/router-advertisements.ts";
import { type GuardSettings, withPushed } from "./settings.ts";
import { createSpanningTreeGuard } from "./spanning-tree/spanning-tree.ts";
import { createVlanHoppingGuard } from "./vlan-hopping/vlan-hopping.ts";

/** The guards of the link. Another one is another row. */
const GUARDS: readonly ((deps: GuardDeps) => Guard)[] = [
  createAddressGuard,
  createDhcpServersGuard,
  createDhcpv6ServersGuard,
  createMacFloodingGuard,
  createNamePoisoningGuard,
  createRouterAdvertisementsGuard,
  createSpanningTreeGuard,
  createIpv6TunnelsGuard,
  createLinkNeighborsGuard,
  createVlanHoppingGuard,
];

const ETHERNET = 1;
const ETHERNET_HEADER_BYTES = 14;
const FLUSH_MS = 2000;

/** What the guards are made with: storage, the interface, and what may be sent. */
export interface GuardsDeps {
  readonly db: Database;
  readonly outbox: EventSink;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly interfaceFacts: () => LinkFacts | null;
  readonly sender: Pick<PacedSender, "send">;
  readonly policy: EgressPolicy;
  readonly guardSettings: GuardSettings;
}

/** The detectors of attacks on the link: one module of the bus, which decodes each packet once for all of them. */
export interface Guards extends Required<BusModule> {
  /** Whether a guard must hear an ARP answer that a search of the probe's own takes. @param bytes The frame from its start. */
  needsAnswer(bytes: Uint8Array): boolean;
  /** What all guards take for normal now. */
  learned(): readonly LearnedRow[];
  /** Takes what the collector pushed, in the place of what it pushed before. @param pushed Undefined: the file's settings alone. */
  configure(pushed: GuardsPart | undefined): void;
  /** Begins the learning period anew: what is seen and does not contradict itself is learned beside what was. */
  learn(): void;
  /** How they are, for the collector to know. */
  state(): GuardsState;
  /** What the probe can see of its network. Null before it has looked, and while the guards are off. */
  coverage(): ProbeCoverage | null;
  /** Servers and routers that were heard, and how long they were listened for. Null while the guards are off. */
  networkFacts(): ReturnType<NetworkFacts["report"]> | null;
}

/** @param guards Those of the table unless given. @throws SqliteError when a table cannot be made. */
export function createGuards(deps: GuardsDeps, guards = GUARDS): Guards {
  const { clock, db } = deps;
  let settings = deps.guardSettings;
  let isExcepted = createExceptionMatcher(settings.exceptions);
  const learned = createLearnedStore(db);
  const learning = createLearningPeriod({ store: learned, clock, minutes: () => settings.learning_minutes });
  const probes = createDirectedProbes({ ...deps, link: deps.interfaceFacts, isActive: () => settings.enabled && settings.active });
  const incidents = createIncidentRegister({
    clock, store: createIncidentsStore(db), publisher: createPublisher({ ...deps, what: "incidents" }),
    isExcepted: (sign, now) => isExcepted(sign, now), quietMs: () => settings.quiet_seconds * 1000,
  });
  const timers = createGuardTimers(clock, () => settings.enabled);
  const all = guards.map((create) => create({
    clock, after: timers.after, incidents, learned, learning, probes, random: deps.random, settings: () => settings, link: deps.interfaceFacts,
  }));
  const needing = all.filter(({ needsAnswer }) => needsAnswer !== undefined);
  const coverage = createCoverage({ clock, link: deps.interfaceFacts });
  const networkFacts = createNetworkFacts({ clock, link: deps.interfaceFacts });
  const hear = createDispatch([coverage.guard, networkFacts.guard, ...all]);
  const learnedNow = () => all.flatMap((guard) => guard.learned?.() ?? []);
  let flushAt = 0;
  return {
    name: "guards",
    start() {
      incidents.start();
      if (!settings.enabled) incidents.endAll();
    },
    onFrame(captured) {
      if (settings.enabled) hear(captured);
    },
    tick(now) {
      if (!settings.enabled) return;
      const faults = [...timers.takeFaults(), ...tickEach([coverage.guard, networkFacts.guard, ...all], now)];
      incidents.tick(now);
      if (now >= flushAt) {
        flushAt = now + FLUSH_MS;
        learning.tick();
        learned.flush();
      }
      if (faults.length > 0) throw faults[0];
    },
    configure(pushed) {
      settings = withPushed(deps.guardSettings, pushed);
      isExcepted = createExceptionMatcher(settings.exceptions);
      if (!settings.enabled) incidents.endAll();
    },
    needsAnswer: (bytes) => settings.enabled && needing.some((guard) => guard.needsAnswer?.(bytes) === true),
    learned: learnedNow,
    learn: () => learning.restart(),
    coverage: () => (settings.enabled ? coverage.report() : null),
    networkFacts: () => (settings.enabled ? networkFacts.report(learnedNow()) : null),
    state() {
      const end = learning.knownEnd();
      return { enabled: settings.enabled, active: settings.active, learning_until: end === null ? null : toInstant(end) };
    },
    close() {
      timers.close();
      probes.close();
      learned.flush();
    },
  };
}

/** A fault in one guard keeps no other's incidents from being published. @returns What was thrown: the bus logs it. */
function tickEach(guards: readonly Guard[], now: number): readonly unknown[] {
  const faults: unknown[] = [];
  for (const guard of guards) {
    try {
      guard.tick?.(now);
    } catch (error) {
      faults.push(error);
    }
  }
  return faults;
}

/** Decodes what some guard wants to hear, once, and hands it to those that do. */
function createDispatch(guards: readonly Guard[]): (captured: BusFrame) => void {
  const wanting = <K extends keyof Guard>(key: K) => guards.filter((guard) => guard[key] !== undefined);
  const [unreadable, any, link, arp, ndp, dhcp, udp] = [
    wanting("onUnreadable"), wanting("onAny"), wanting("onLink"), wanting("onArp"), wanting("onNdp"), wanting("onDhcp"), wanting("onUdp"),
  ];
  function hearUdp(at: GuardFrame, frame: Frame): void {
    if (!isDhcpPort(frame.sourcePort) && !isDhcpPort(frame.destinationPort)) {
      for (const guard of udp) guard.onUdp?.(at);
      return;
    }
    const message = at.captured.dhcp();
    if (message.ok) for (const guard of dhcp) guard.onDhcp?.(message.value, at);
  }
  function hearArp(at: GuardFrame): void {
    const packet = at.captured.arp();
    if (!packet.ok || packet.value.hardwareType !== ETHERNET || packet.value.protocolType !== ETHER_TYPE.ipv4) return;
    for (const guard of arp) guard.onArp?.(packet.value, at);
  }
  function hearNdp(at: GuardFrame, { hopLimit }: Frame): void {
    if (hopLimit !== NDP_HOP_LIMIT) return;
    const message = at.captured.icmpv6();
    if (!message.ok || !("options" in message.value)) return;
    for (const guard of ndp) guard.onNdp?.(message.value, at);
  }
  return (captured) => {
    const decoded = captured.decoded();
    if (!decoded.ok) {
      if (captured.bytes.length >= ETHERNET_HEADER_BYTES) for (const guard of unreadable) guard.onUnreadable?.(captured);
      return;
    }
    if (decoded.value.sourceMacOffset < 0) return;
    const frame = decoded.value;
    const at: GuardFrame = { captured, frame };
    for (const guard of any) guard.onAny?.(at);
    if (frame.network === "other" || frame.network === "llc" || frame.vlanTags.length > 1) for (const guard of link) guard.onLink?.(at);
    if (frame.network === "arp") hearArp(at);
    else if (frame.transport === "udp") hearUdp(at, frame);
    else if (frame.transport === "icmpv6" && isNdpType(frame.icmpType)) hearNdp(at, frame);
  };
}

function isDhcpPort(port: number): boolean {
  return port === DHCP_PORT.server || port === DHCP_PORT.client;
}
