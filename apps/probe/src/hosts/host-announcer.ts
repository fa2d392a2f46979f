import type { EventData, ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Publisher } from "../queue/publisher.ts";
import { describeHost, type Host, publishedStateOf, type PublishedState } from "./host.ts";
import type { HostTable } from "./host-table.ts";
import type { HostsStore } from "./hosts-store.ts";

/**
 * Publishes what changed, by comparing the state with the one that was published last: a change that is undone in time is not published,
 * and one that could not be written is found again.
 */
export interface HostAnnouncer {
  /** Publish this host's state at `at` (monotonic) or earlier. */
  announceBy(host: Host, at: number): void;
  /** A field changed: published within seconds, and more rarely where it keeps changing. */
  announceChange(host: Host): void;
  /** Publishes these hosts now, if they were not published yet, without waiting for their names: the next events are about them. */
  announce(hosts: Iterable<Host>): void;
  /** Writes down what is due: each host's state and its events in one transaction. @returns Whether there is more to write. */
  flush(now: number): boolean;
  /** Hosts that left the table for others. */
  forget(hosts: readonly Host[]): void;
  /** Appends when hosts were last seen. @param which `fresh`: those seen since their last report. */
  report(which: "fresh" | "all"): void;
  /** Writes when hosts were last seen, of at most `limit` hosts. @returns Whether there were that many. */
  saveLastSeen(limit: number): boolean;
}

/** A transaction of this size takes some 10 ms on an SD card. */
const HOSTS_A_FLUSH = 500;
/** The contract's limit. */
const HOSTS_A_REPORT = 500;
/** A change rarely comes alone: a new lease brings an address, then a name. */
const SETTLE_MS = 2000;
/** Two devices that fight for one name must not fill the queue. */
const MAX_PAUSE_MS = 60_000;
const CALM_MS = 600_000;
const RETRY_MS = 5000;

/** A write that fails is tried again five seconds later; until then the hosts keep the state that was published last. */
export function createHostAnnouncer(deps: {
  readonly table: HostTable;
  readonly store: HostsStore;
  readonly publisher: Publisher;
  readonly clock: Clock;
  /** Something is due at once: `flush` should be called soon. */
  readonly onDue: () => void;
}): HostAnnouncer {
  const { table, store, publisher, clock } = deps;
  const due = new Set<Host>();
  const left = new Set<string>();

  const write = (hosts: readonly Host[]) => {
    const published = hosts.map((host) => ({ host, next: publishedStateOf(host) }));
    const isWritten = publisher.publish(published.flatMap(({ host, next }) => eventsFor(host, next, toInstant(clock.now()))), () => {
      for (const mac of left) store.remove(mac);
      for (const { host } of published) store.save(host);
    });
    if (!isWritten) return false;
    left.clear();
    for (const { host, next } of published) settle(host, next);
    return true;
  };
  const settle = (host: Host, next: PublishedState) => {
    const now = clock.monotonic();
    const calm = now - host.changePublishedAt > CALM_MS;
    host.changePauseMs = calm ? SETTLE_MS : Math.min(host.changePauseMs * 2, MAX_PAUSE_MS);
    host.changePublishedAt = now;
    host.published = next;
    host.announceAt = Number.POSITIVE_INFINITY;
    due.delete(host);
  };
  const announceBy = (host: Host, at: number) => {
    host.announceAt = Math.min(host.announceAt, at);
    due.add(host);
    if (at <= clock.monotonic()) deps.onDue();
  };
  const flush: HostAnnouncer["flush"] = (now) => {
    const ready: Host[] = [];
    for (const host of due) {
      if (host.announceAt > now || ready.length >= HOSTS_A_FLUSH) continue;
      if (host.bindings.length > 0 && table.byMac(host.key) === host) ready.push(host);
      else due.delete(host);
    }
    if (ready.length === 0 && left.size === 0) return false;
    if (write(ready)) return ready.length === HOSTS_A_FLUSH;
    for (const host of ready) host.announceAt = now + RETRY_MS;
    return false;
  };
  return {
    announceBy,
    flush,
    announce(hosts) {
      const newcomers = [...hosts].filter(({ published }) => published === null);
      if (newcomers.length === 0) return;
      const now = clock.monotonic();
      for (const host of newcomers) announceBy(host, now);
      while (flush(now));
    },
    announceChange(host) {
      if (host.published === null) return;
      const now = clock.monotonic();
      announceBy(host, Math.max(now + SETTLE_MS, host.changePublishedAt + host.changePauseMs));
    },
    forget(hosts) {
      for (const host of hosts) {
        due.delete(host);
        if (host.published !== null) left.add(host.mac);
      }
    },
    report(which) {
      const hosts = [...table.all()].filter((host) => isReportable(host, which));
      for (let first = 0; first < hosts.length; first += HOSTS_A_REPORT) {
        const data = { hosts: hosts.slice(first, first + HOSTS_A_REPORT).map(reportOf) };
        publisher.publish([{ type: "presence_report", occurred_at: toInstant(clock.now()), data }]);
      }
      for (const host of hosts) host.unreported = false;
    },
    saveLastSeen: (limit) => saveLastSeen(deps, limit),
  };
}

/** As `HostAnnouncer.saveLastSeen`. */
function saveLastSeen(
  { table, store, publisher }: { readonly table: HostTable; readonly store: HostsStore; readonly publisher: Publisher }, limit: number,
): boolean {
  const hosts: Host[] = [];
  for (const host of table.all()) {
    if (hosts.length >= limit) break;
    if (host.unsaved && host.published !== null) hosts.push(host);
  }
  if (hosts.length === 0) return false;
  const saved = publisher.publish([], () => {
    for (const host of hosts) store.touch(host);
  });
  if (saved) for (const host of hosts) host.unsaved = false;
  return saved && hosts.length === limit;
}

function presenceOf(host: Host, { ip }: PublishedState) {
  return { ip, mac: host.mac, last_seen_at: toInstant(host.lastSeenAt) };
}

/** The events that lead from the state that was published last to `next`. @param occurred_at An instant. */
function eventsFor(host: Host, next: PublishedState, occurred_at: string): ProbeEvent[] {
  const { published } = host;
  const events: ProbeEvent[] = [];
  if (published === null) events.push({ type: "host_found", occurred_at, data: describeHost(host) });
  const before = published?.presence ?? "online";
  if (next.presence === "online" && before === "offline") events.push({ type: "host_online", occurred_at, data: presenceOf(host, next) });
  const changed =
    published === null ? [] : (["ip", "addresses", "hostname", "vendor", "evidence"] as const).filter((field) => published[field] !== next[field]);
  if (changed.length > 0) events.push({ type: "host_changed", occurred_at, data: { ...describeHost(host), changed } });
  if (next.presence === "offline" && before === "online") {
    events.push({ type: "host_offline", occurred_at, data: { ...presenceOf(host, next), missed_checks: host.missedChecks } });
  }
  return events;
}

/** Whether there is anything to say of when it was last seen. */
function isReportable(host: Host, which: "fresh" | "all"): boolean {
  const isKnowledge = host.watch.seenAt !== Number.NEGATIVE_INFINITY || host.confirmedOffline;
  return host.published !== null && isKnowledge && (which === "all" || host.unreported);
}

function reportOf(host: Host): EventData<"presence_report">["hosts"][number] {
  const published = host.published as PublishedState;
  return { ...presenceOf(host, published), presence_state: published.presence };
}
