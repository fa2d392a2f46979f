import { formatIp, parseIp } from "@lanthorn/packets";
import type { PacedSender } from "@lanthorn/packet-io";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import type { BusModule } from "../bus/frame-bus.ts";
import { createAdmission } from "../hosts/admission.ts";
import { hasIpv4, type Host } from "../hosts/host.ts";
import { createHostTable, onlineAt, onlineIpv4, onlineIpv6 } from "../hosts/host-table.ts";
import { createHostsStore } from "../hosts/hosts-store.ts";
import { noteGateway } from "../hosts/gateway.ts";
import { createFactsTaker } from "../hosts/service-facts.ts";
import { createSightings } from "../hosts/sightings.ts";
import { createHostAnnouncer } from "../hosts/host-announcer.ts";
import { createLink, type Link, type LinkFacts } from "../capture/link.ts";
import { observeFrame } from "../observe/observe-frame.ts";
import { createPublisher, type EventSink } from "../queue/publisher.ts";
import { createChecks } from "./checks.ts";
import { createErrorReporter } from "./error-reporter.ts";
import { createExpectations } from "./expectations.ts";
import { createListenerQueries } from "../sweep/listener-queries.ts";
import { createMdnsNames } from "../naming/mdns-names.ts";
import type { EgressPolicy, Narrowing } from "../egress/policy.ts";
import { createFrameSender } from "../egress/frame-sender.ts";
import { createReverseNames, type Nameable } from "../naming/reverse-names.ts";
import { createRoutedLook } from "../routed/routed-asking.ts";
import { createRoutedWatch } from "../routed/routed-watch.ts";
import { createScans, type Scans } from "../scan/scans.ts";
import type { ScanWays } from "../scan/scan-work.ts";
import { createSweepSchedule } from "../sweep/sweep-schedule.ts";
import type { SweepSummary } from "../sweep/sweeper.ts";

export interface HostDiscoveryDeps extends ScanWays {
  /** The database that holds the outbox: a change of state and its event are one transaction. */
  readonly db: Database;
  /** Called inside a transaction of `db`. A throw rolls the change back; it is tried again a second later. */
  readonly outbox: EventSink;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  /** What `watchInterface` reported last; null while the interface does not exist. Called every second, so it should not poll itself. */
  readonly interfaceFacts: () => LinkFacts | null;
  readonly policy: EgressPolicy;
  /** Most hosts to hold; of those that are offline, who was there for the shortest time leaves first. */
  readonly maxHosts: number;
  /**
   * `all` admits every host that speaks, at any rate, as a capture file needs it, and asks nobody; `paced` unless given, against made-up
   * MACs without end.
   */
  readonly unasked?: "paced" | "all";
  /** The interface's paced sender. Nothing else should send through it, or the rate is shared. */
  readonly sender: Pick<PacedSender, "send">;
  /** Empty for a MAC that no vendor owns. */
  readonly vendorOf: (mac: string) => string;
  /** Names that the site's DNS servers give an address, best first; null where there is no server to ask. A rejection counts as no name. */
  readonly reverseNames: ((address: string) => Promise<readonly string[]>) | null;
}

/** Finds the hosts of the interface's own subnets, and keeps whether they are there. */
export interface HostDiscovery extends Required<BusModule> {
  /** A sweep of the same networks; one that is under way is joined. */
  sweepNow(): Promise<SweepSummary>;
  /** What people ask for, beside the sweeps by schedule. */
  readonly scans: Pick<Scans, "start" | "cancel">;
  /** Appends presence reports of every host with evidence since the start: for each new connection to the collector. */
  reportAll(): void;
  /** Lays the collector's wishes over the settings. @returns What is wrong with them, in which case nothing changes; else null. */
  configure(narrowing: Narrowing | null): string | null;
  counts(): { readonly online: number; readonly known: number };
  /** Ends a sweep and scans too. */
  close(): Promise<void>;
}

const LOOK_MS = 1000;
/** Events from one burst of frames are published together. */
const FLUSH_AFTER_MS = 50;
const MINUTE_MS = 60_000;
/** After a start the collector holds every host for unknown: what shows itself is reported without waiting for the minute. */
const RETURNED_TOLD_AFTER_MS = 2000;
/** Ticks that far apart mean that the process was stopped or the machine slept: what was asked before says nothing. */
const GAP_MS = 5000;
const SAVED_AT_ONCE = 2000;
/** A link that has just come up drops the first frames: spanning tree, DHCP. */
const SWEEP_AFTER_UP_MS = 1000;

/**
 * Wires observation, hosts, checks and sweeps together.
 * @throws ProbeError `config-invalid` for settings that name no address or prefix; what better-sqlite3 throws when the tables
 * cannot be made.
 */
export function createHostDiscovery(deps: HostDiscoveryDeps): HostDiscovery {
  const { clock, log, policy } = deps;
  const store = createHostsStore(deps.db);
  const table = createHostTable(deps.maxHosts);
  const admission = createAdmission({ unasked: deps.unasked ?? "paced" });
  const expectations = createExpectations();
  const stop = new AbortController();
  let facts: LinkFacts | null = null;
  let link: Link | null = null;
  let flushing: (() => void) | null = null;
  let asking: Promise<void> | null = null;
  let lastTick = { monotonic: 0, wall: 0 };
  let lookAt = Number.NEGATIVE_INFINITY;
  let minuteAt = 0;
  let returnedAt: number | null = null;
  let saving = false;

  /** The contract's limit is cut to here, as registries hold whole addresses. */
  const nameVendor = (mac: string) => deps.vendorOf(mac).slice(0, 255);
  const linkUp = () => (link?.up ? link : null);
  const reportError = createErrorReporter(deps);
  const announcer = createHostAnnouncer({ table, store, publisher: createPublisher({ ...deps, what: "hosts" }), clock, onDue: flushSoon });
  const hostFacts = createFactsTaker({ table, announcer, clock });
  const sender = createFrameSender({
    sender: deps.sender, exclusions: () => policy.exclusions, onSent: (count) => admission.asked(count),
    packetsPerSecond: () => policy.packetsPerSecond / (routed.isAsking ? 2 : 1),
  });
  const reverse = deps.reverseNames && createReverseNames({
    lookUp: deps.reverseNames, clock, random: deps.random,
    onName(address, name) {
      sightings.name({ address: parseIp(address) as Uint8Array }, name, "reverse-dns");
      for (const one of [routed, scans]) one.noteName(address, name);
    },
  });
  const wantName = (host: Nameable) => reverse?.want(host) ?? true;
  const mdnsNames = createMdnsNames({ clock });
  const listenerQueries = createListenerQueries({ now: () => clock.monotonic(), isGentle: () => policy.isGentle });
  const schedule = createSweepSchedule({
    policy, sender, clock, log, link: linkUp, random: deps.random, listenerQuestions: listenerQueries.questions,
    isTaken: (address) => onlineAt(table, formatIp(address)).length > 0,
    isHiding: (mac) => sightings.isHiding(mac), onRefused: (reason) => reportError("subnet-not-swept", reason),
  });
  const macAt = (address: string) => onlineAt(table, address)[0]?.mac ?? "";
  const routed = createRoutedWatch({
    ...deps, policy, link: linkUp, prefixes: policy.routed, look: createRoutedLook({ ...deps, policy, link: linkUp, macAt }),
    room: () => deps.maxHosts - table.size, onFault: reportError, wantName,
  });
  const scans = createScans({
    ...deps, policy, link: readLink, onSent: (count) => admission.asked(count), online: () => onlineIpv4(table),
    online6: () => onlineIpv6(table), facts: hostFacts, onFault: reportError, macAt, onRouted: (ip) => routed.noteSeen(ip), wantName,
    announce: (addresses) => { sightings.enterAll(); announcer.announce(addresses.flatMap((address) => onlineAt(table, address))); },
  });
  const abort = (reason: string) => Promise.all([schedule.abort(reason), routed.abort(reason)]);
  const sightings = createSightings({
    table, announcer, admission, clock, vendorOf: nameVendor, facts: hostFacts,
    onSpoken: (address) => { schedule.noteAnswer(address); scans.noteAnswer(address); },
    onNewAddress(host) {
      if (host.published === null && host.bindings.length === 1) {
        schedule.noteNewHost();
        if (!hasIpv4(host)) schedule.noteNewcomer(host.key);
      }
      wantMore(host);
    },
    onReturned: () => void (returnedAt ??= clock.monotonic()),
    onListenerQuery: () => listenerQueries.heard(), onStranger: (mac) => schedule.noteNewcomer(mac),
    onExpected: (mac, address) => expectations.add(mac, address, clock.monotonic()),
    onRefused: (reason) => reportError("host-limit", `hosts are left out: ${reason}`),
  });
  const checks = createChecks({
    table, clock, last: sightings.last,
    mayAsk: (host) => deps.unasked !== "all" && !host.bindings.some(({ bytes }) => policy.exclusions.holds(bytes)),
    onGone: (host) => announcer.announceBy(host, clock.monotonic()),
    onAddressGone: (host, binding) => sightings.dropBinding(host, binding),
  });

  function flushSoon(): void {
    flushing ??= clock.after(FLUSH_AFTER_MS, () => {
      flushing = null;
      if (announcer.flush(clock.monotonic())) flushSoon();
    });
  }

  function startAnew(now: number): void {
    for (const one of [checks, routed, listenerQueries]) one.startAnew(now);
  }

  function report(which: "fresh" | "all"): void {
    for (const one of [announcer, routed]) one.report(which);
  }

  function wantMore(host: Host): void {
    wantName(host);
    mdnsNames.want(host);
    noteGateway(host, facts, hostFacts);
  }

  function* questions(): Generator<Uint8Array> {
    const up = linkUp();
    if (up) yield* checks.questions(up, [expectations.questions(up, clock.monotonic()), mdnsNames.questions(up, clock.monotonic())]);
  }

  async function ask(): Promise<void> {
    try {
      await sender.send(questions(), stop.signal);
    } catch (error) {
      // What was taken from the queue may not have left: no silence counts.
      checks.startAnew(clock.monotonic());
      if (!stop.signal.aborted) log.warn({ reason: describeError(error) }, "hosts could not be checked");
    } finally {
      asking = null;
    }
  }

  /** Each second, and when somebody asks for something: what has just come up counts. */
  function readLink(now = clock.monotonic()): Link | null {
    const current = deps.interfaceFacts();
    if (current === facts) return linkUp();
    facts = current;
    const before = link;
    link = createLink(facts);
    if (link?.fingerprint === before?.fingerprint) return linkUp();
    startAnew(now);
    if (linkUp()) schedule.sweepAt(now + (before?.up ? 0 : SWEEP_AFTER_UP_MS));
    scans.linkChanged(linkUp());
    if (before?.up) void abort("the interface went down or changed its addresses");
    return linkUp();
  }

  function tick(now: number): void {
    const slept = clock.now() - lastTick.wall - (now - lastTick.monotonic);
    if (now - lastTick.monotonic > GAP_MS || slept > GAP_MS) startAnew(now);
    lastTick = { monotonic: now, wall: clock.now() };
    readLink(now);
    if (linkUp()) {
      if (now - lookAt >= LOOK_MS) {
        lookAt = now;
        routed.tick(now);
        checks.look(now, Math.ceil(policy.packetsPerSecond));
      }
      expectations.settle((mac, address) => table.atAddress(address).some(({ key }) => key === mac), now);
      if (!asking && (checks.waiting || expectations.isDue(now) || mdnsNames.isDue(now))) asking = ask();
      schedule.tick(now);
      reverse?.retry(now);
    }
    if (announcer.flush(now)) flushSoon();
    if (saving) saving = announcer.saveSightings(SAVED_AT_ONCE);
    if (returnedAt !== null && now - returnedAt >= RETURNED_TOLD_AFTER_MS) {
      returnedAt = null;
      report("fresh");
    }
    if (now - minuteAt < MINUTE_MS) return;
    minuteAt = now;
    saving = true;
    report("fresh");
    if (linkUp()) for (const host of table.all()) if (host.presence === "online") wantMore(host);
  }

  return {
    name: "discovery",
    start() {
      const now = clock.monotonic();
      for (const host of store.load(now)) {
        // Null: the limit is lower than it was. The registry of vendors may be newer than the row.
        announcer.forget(table.add(host, clock.now()) ?? [host]);
        host.vendor = nameVendor(host.mac) || host.vendor;
        if (host.vendor !== host.published?.vendor) announcer.announceChange(host);
      }
      routed.start();
      scans.recover();
      lastTick = { monotonic: now, wall: clock.now() };
      minuteAt = now;
      facts = deps.interfaceFacts();
      link = createLink(facts);
      tick(now);
    },
    tick,
    onFrame(frame) {
      if (link) observeFrame(frame, link, sightings);
    },
    sweepNow() {
      if (readLink()) routed.roundNow();
      return schedule.sweepNow();
    },
    scans,
    reportAll: () => report("all"),
    configure(narrowing) {
      const wrong = policy.narrow(narrowing);
      if (wrong === null && !policy.sweepEnabled) void abort("sweeping is switched off");
      return wrong;
    },
    counts: () => ({ online: table.online + routed.counts.online, known: table.size + routed.counts.known }),
    async close() {
      stop.abort(new Error("the probe stops"));
      await abort("the probe stops");
      await scans.abort("the probe was stopped");
      await asking;
      flushing?.();
      sightings.enterAll();
      // New hosts that still wait for a name, and changes that still wait for more, are published as they are.
      while (announcer.flush(Number.POSITIVE_INFINITY));
      while (announcer.saveSightings(SAVED_AT_ONCE));
    },
  };
}
