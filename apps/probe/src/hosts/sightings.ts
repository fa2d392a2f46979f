import { formatIp, ipv4Number } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import type { Observer } from "./observer.ts";
import type { Admission } from "./admission.ts";
import { createArrivals } from "./arrivals.ts";
import { type Binding, createBinding, createHost, hasIpv4, type Host, type SightingSource } from "./host.ts";
import { mergeFacts } from "./facts.ts";
import { type HostTable, onlineAt } from "./host-table.ts";
import { type FactsTaker, seenNow } from "./service-facts.ts";
import { cleanName, type NameSource, setName } from "./names.ts";
import { noteSeen, startAnew } from "./presence.ts";
import { createPendingHosts } from "./pending-hosts.ts";
import type { HostAnnouncer } from "./host-announcer.ts";

/** Turns what frames tell into hosts: the one place where a host comes into being, changes its addresses, and comes back. */
export interface Sightings extends Observer {
  /** The last evidence of any host, monotonic; what shows that the link carries answers. */
  readonly last: { readonly host: Host | null; readonly at: number };
  /** Whether it shows no IPv4 address, and asks no DHCP server for one either. */
  isHiding(mac: number): boolean;
  /** Keeps an address out that nothing speaks for any more. */
  dropBinding(host: Host, binding: Binding): void;
  /** Enters who has answered and still waits for its turn. */
  enterAll(): void;
}

/** Without IPv4 there is no hurry to announce: a lease usually takes a few seconds, a server's check for duplicates three more. */
const SETTLE_IPV4_MS = 2000;
const SETTLE_OTHER_MS = 5000;
const SETTLE_DHCP_MS = 8000;
const SETTLE_LONGEST_MS = 15_000;
/** A host with that many addresses is a router or a proxy, and moves none of them. */
const MOST_DOUBTED = 8;
/** Looking for someone to leave reads the whole table. */
const FULL_PAUSE_MS = 10_000;

export function createSightings(deps: {
  readonly table: HostTable;
  readonly announcer: HostAnnouncer;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly vendorOf: (mac: string) => string;
  readonly facts: Pick<FactsTaker, "note">;
  /** A host has an address that it was not seen at before. */
  readonly onNewAddress: (host: Host) => void;
  /** A host that the collector knows shows itself for the first time since the start. */
  readonly onReturned: () => void;
  /** A MAC that was never seen is there, and shows no address. */
  readonly onStranger: (mac: number) => void;
  /** Somebody speaks from an IPv4 address. */
  readonly onSpoken: (address: Uint8Array) => void;
  /** A router asked for multicast groups. */
  readonly onListenerQuery: () => void;
  readonly onExpected: (mac: number, address: string) => void;
  readonly onRefused: (reason: string) => void;
}): Sightings {
  const { table, announcer, clock } = deps;
  const pendingHosts = createPendingHosts();
  const last: { host: Host | null; at: number } = { host: null, at: Number.NEGATIVE_INFINITY };
  let fullUntil = Number.NEGATIVE_INFINITY;

  const isAdmitted = (newcomer: Parameters<Admission["refusal"]>[0]): boolean => {
    const now = clock.monotonic();
    const reason = now < fullUntil ? "the table of hosts is full" : deps.admission.refusal(newcomer, now);
    if (reason !== null) deps.onRefused(reason);
    return reason === null;
  };
  const sharersOf = (address: Uint8Array) => onlineAt(table, formatIp(address)).length;

  const enter = (key: number): Host | null => {
    const now = clock.monotonic();
    const host = createHost({ key, vendor: "", wallAt: clock.now(), silentFrom: now });
    host.vendor = deps.vendorOf(host.mac);
    const left = table.add(host, clock.now());
    if (left === null) {
      fullUntil = now + FULL_PAUSE_MS;
      deps.onRefused("the table of hosts is full");
      return null;
    }
    announcer.forget(left);
    const pendingHost = pendingHosts.take(key);
    if (pendingHost?.name) host.names = { dhcp: { fullName: pendingHost.name, seenAt: clock.now() } };
    host.facts = pendingHost?.facts ?? [];
    host.announceAt = now + (pendingHost?.dhcpAt != null && now - pendingHost.dhcpAt < SETTLE_DHCP_MS ? SETTLE_DHCP_MS : SETTLE_OTHER_MS);
    host.announceLatestAt = now + SETTLE_LONGEST_MS;
    announcer.announceBy(host, host.announceAt);
    return host;
  };
  const meet = (key: number, address: Uint8Array, solicited: boolean): Host | null => {
    const hasTurn = !solicited || address.length !== 4 || arrivals.takeTurn();
    if (!isAdmitted({ solicited, sharers: hasTurn ? sharersOf(address) : 0 })) return null;
    if (hasTurn) return enter(key);
    arrivals.wait(key, ipv4Number(address));
    return null;
  };

  const bind = (host: Host, bytes: Uint8Array, source: SightingSource) => {
    const now = clock.monotonic();
    const isFirstIpv4 = bytes.length === 4 && !hasIpv4(host);
    const binding = createBinding(formatIp(bytes), source, now, clock.now());
    if (!binding || !table.addBinding(host, binding)) return;
    noteSeen(binding.watch, now);
    doubtOthers(host, binding);
    if (host.published === null && isFirstIpv4) announcer.announceBy(host, now + (host.names.dhcp || host.names.mdns ? 0 : SETTLE_IPV4_MS));
    announcer.announceChange(host);
    deps.onNewAddress(host);
  };

  /** A host that takes an address may have left another one of its family; and who had this one may have lost it. */
  const doubtOthers = (host: Host, binding: Binding) => {
    if (host.bindings.length <= MOST_DOUBTED && binding.bytes.length === 4) {
      for (const other of host.bindings) if (other !== binding && other.bytes.length === 4) other.doubted = true;
    }
    for (const sharer of table.atAddress(binding.address)) {
      for (const other of sharer.bindings) if (other !== binding && other.address === binding.address) other.doubted = true;
    }
  };

  /** A newcomer that asks for an IPv4 address is announced with it. */
  const waitForIpv4 = (host: Host, settleMs: number) => {
    if (host.published !== null || hasIpv4(host)) return;
    host.announceAt = Math.max(host.announceAt, Math.min(clock.monotonic() + settleMs, host.announceLatestAt));
  };

  const note = (host: Host, address: Uint8Array | null, source: SightingSource) => {
    const now = clock.monotonic();
    if (host.published !== null && host.watch.seenAt === Number.NEGATIVE_INFINITY) deps.onReturned();
    noteSeen(host.watch, now);
    last.host = host;
    last.at = now;
    host.seenWallAt = clock.now();
    host.unsaved = true;
    host.unreported = true;
    if (host.presence === "offline") {
      table.setPresence(host, "online");
      host.confirmedOffline = false;
      for (const { watch } of host.bindings) startAnew(watch, now);
      announcer.announceBy(host, now);
    }
    if (!address) return;
    const binding = findBinding(host, address);
    if (!binding) return bind(host, address, source);
    noteSeen(binding.watch, now);
    binding.seenWallAt = host.seenWallAt;
    binding.doubted = false;
    if (source !== "traffic") binding.source = source;
  };
  const arrivals = createArrivals({
    clock,
    enter(mac, address) {
      const known = table.byMac(mac);
      const host = known ?? (isAdmitted({ solicited: true, hasWaited: true, sharers: sharersOf(address) }) ? enter(mac) : null);
      if (host) note(host, address, "arp");
    },
  });

  const noteStranger = (mac: number) => {
    if (pendingHosts.has(mac)) return;
    pendingHosts.meet(mac);
    deps.onStranger(mac);
  };

  const noteFacts: Observer["facts"] = (who, facts) => {
    if ("address" in who) {
      for (const host of table.atAddress(formatIp(who.address))) if (host.presence === "online") deps.facts.note(host, facts);
      return;
    }
    const host = table.byMac(who.mac);
    if (host) {
      deps.facts.note(host, facts);
      return;
    }
    // A DHCP client shows its ways before it has an address; others' are seen again.
    const pendingHost = pendingHosts.meet(who.mac);
    pendingHost.facts = mergeFacts(pendingHost.facts, seenNow(facts, clock.now()));
  };

  const rename = (host: Host, fullName: string, source: NameSource) => {
    const isAnother = setName(host, source, fullName, clock.now());
    if (host.published === null && hasIpv4(host)) announcer.announceBy(host, clock.monotonic());
    else if (isAnother) announcer.announceChange(host);
  };

  return {
    last,
    sighting(mac, address, { source, solicited }) {
      if (address?.length === 4) deps.onSpoken(address);
      const host = table.byMac(mac) ?? (address ? meet(mac, address, solicited) : null);
      if (host) note(host, address, source);
      else if (!address) noteStranger(mac);
    },
    expectation(mac, address) {
      const host = table.byMac(mac);
      if (host && findBinding(host, address)) return;
      if (!host && address.length === 4) pendingHosts.meet(mac).dhcpAt = clock.monotonic();
      else if (host) waitForIpv4(host, SETTLE_OTHER_MS);
      deps.onExpected(mac, formatIp(address));
    },
    name(who, text, source) {
      const name = cleanName(text);
      if (name === null) return;
      if ("address" in who) {
        for (const host of table.atAddress(formatIp(who.address))) if (host.presence === "online") rename(host, name, source);
        return;
      }
      const host = table.byMac(who.mac);
      if (host) {
        waitForIpv4(host, SETTLE_DHCP_MS);
        return rename(host, name, source);
      }
      const pendingHost = pendingHosts.meet(who.mac);
      pendingHost.name = name;
      pendingHost.dhcpAt = clock.monotonic();
    },
    facts: noteFacts,
    listenerQuery: () => deps.onListenerQuery(),
    isHiding(mac) {
      const host = table.byMac(mac);
      return host ? !hasIpv4(host) && !host.names.dhcp : pendingHosts.has(mac) && pendingHosts.meet(mac).dhcpAt === null;
    },
    enterAll: () => arrivals.enterAll(),
    dropBinding(host, binding) {
      table.removeBinding(host, binding);
      // A reverse name is the address's, not the host's.
      const { "reverse-dns": _, ...others } = host.names;
      host.names = others;
      host.reverseDueAt = 0;
      announcer.announceChange(host);
    },
  };
}

function findBinding(host: Host, address: Uint8Array): Binding | null {
  for (const binding of host.bindings) {
    const { bytes } = binding;
    if (bytes.length !== address.length) continue;
    let at = bytes.length - 1;
    while (at >= 0 && bytes[at] === address[at]) at -= 1;
    if (at < 0) return binding;
  }
  return null;
}
