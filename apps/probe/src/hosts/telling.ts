import type { EventData, ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Publisher } from "../queue/publisher.ts";
import { describeHost, type Host, tellable, type Told } from "./host.ts";
import type { HostTable } from "./host-table.ts";
import type { HostsStore } from "./hosts-store.ts";

/**
 * Tells the collector what changed, by comparing what is true with what was told last: a change that is undone in time is not told, and one
 * that could not be written is found again.
 */
export interface Telling {
  /** Something about this host should be told at `at` (monotonic) or earlier. */
  tellBy(host: Host, at: number): void;
  /** A field changed: told within seconds, and more rarely where it keeps changing. */
  tellChange(host: Host): void;
  /** Tells of these hosts now, where they were not told yet, without waiting for their names: what is told next is about them. */
  announce(hosts: Iterable<Host>): void;
  /** Writes down what is due: each host's state and its events in one transaction. @returns Whether there is more to write. */
  flush(now: number): boolean;
  /** Hosts that left the table for others. */
  forget(hosts: readonly Host[]): void;
  /** Appends when hosts were last seen. @param which `fresh`: those seen since their last report. */
  report(which: "fresh" | "all"): void;
  /** Writes when hosts were last seen, of at most `limit` hosts. @returns Whether there were that many. */
  saveSightings(limit: number): boolean;
}

/** A transaction of this size takes some 10 ms on an SD card. */
const HOSTS_A_FLUSH = 500;
/** The contract's limit. */
const HOSTS_A_REPORT = 500;
/** A change rarely comes alone: a new lease brings an address, then a name. */
const SETTLE_MS = 2000;
/** Two devices that fight for one name must not fill the queue. */
const LONGEST_PAUSE_MS = 60_000;
const CALM_MS = 600_000;
const RETRY_MS = 5000;

export function createTelling(deps: {
  readonly table: HostTable;
  readonly store: HostsStore;
  readonly publisher: Publisher;
  readonly clock: Clock;
  /** Something is due at once: `flush` should be called soon. */
  readonly onDue: () => void;
}): Telling {
  const { table, store, publisher, clock } = deps;
  const due = new Set<Host>();
  const left = new Set<string>();

  const presenceOf = (host: Host, { ip }: Told) => ({ ip, mac: host.mac, last_seen_at: toInstant(host.seenWallAt) });

  const eventsFor = (host: Host, next: Told): ProbeEvent[] => {
    const occurred_at = toInstant(clock.now());
    const { told } = host;
    const events: ProbeEvent[] = [];
    if (told === null) events.push({ type: "host_found", occurred_at, data: describeHost(host) });
    const before = told?.presence ?? "online";
    if (next.presence === "online" && before === "offline") events.push({ type: "host_online", occurred_at, data: presenceOf(host, next) });
    const changed =
      told === null ? [] : (["ip", "addresses", "hostname", "vendor", "evidence"] as const).filter((field) => told[field] !== next[field]);
    if (changed.length > 0) events.push({ type: "host_changed", occurred_at, data: { ...describeHost(host), changed } });
    if (next.presence === "offline" && before === "online") {
      events.push({ type: "host_offline", occurred_at, data: { ...presenceOf(host, next), missed_checks: host.missedChecks } });
    }
    return events;
  };
  const write = (hosts: readonly Host[]) => {
    const told = hosts.map((host) => ({ host, next: tellable(host) }));
    const isWritten = publisher.publish(told.flatMap(({ host, next }) => eventsFor(host, next)), () => {
      for (const mac of left) store.remove(mac);
      for (const { host } of told) store.save(host);
    });
    if (!isWritten) return false;
    left.clear();
    for (const { host, next } of told) settle(host, next);
    return true;
  };
  const settle = (host: Host, next: Told) => {
    const now = clock.monotonic();
    const calm = now - host.changeToldAt > CALM_MS;
    host.tellPauseMs = calm ? SETTLE_MS : Math.min(host.tellPauseMs * 2, LONGEST_PAUSE_MS);
    host.changeToldAt = now;
    host.told = next;
    host.tellAt = Number.POSITIVE_INFINITY;
    due.delete(host);
  };
  const tellBy = (host: Host, at: number) => {
    host.tellAt = Math.min(host.tellAt, at);
    due.add(host);
    if (at <= clock.monotonic()) deps.onDue();
  };
  const flush: Telling["flush"] = (now) => {
    const ready: Host[] = [];
    for (const host of due) {
      if (host.tellAt > now || ready.length >= HOSTS_A_FLUSH) continue;
      if (host.bindings.length > 0 && table.byMac(host.key) === host) ready.push(host);
      else due.delete(host);
    }
    if (ready.length === 0 && left.size === 0) return false;
    if (write(ready)) return ready.length === HOSTS_A_FLUSH;
    for (const host of ready) host.tellAt = now + RETRY_MS;
    return false;
  };
  return {
    tellBy,
    flush,
    announce(hosts) {
      const newcomers = [...hosts].filter(({ told }) => told === null);
      if (newcomers.length === 0) return;
      const now = clock.monotonic();
      for (const host of newcomers) tellBy(host, now);
      while (flush(now));
    },
    tellChange(host) {
      if (host.told === null) return;
      const now = clock.monotonic();
      tellBy(host, Math.max(now + SETTLE_MS, host.changeToldAt + host.tellPauseMs));
    },
    forget(hosts) {
      for (const host of hosts) {
        due.delete(host);
        if (host.told !== null) left.add(host.mac);
      }
    },
    report(which) {
      let hosts: EventData<"presence_report">["hosts"] = [];
      const send = () => {
        const data = { hosts };
        hosts = [];
        if (data.hosts.length > 0) publisher.publish([{ type: "presence_report", occurred_at: toInstant(clock.now()), data }]);
      };
      for (const host of table.all()) {
        const isKnowledge = host.watch.seenAt !== Number.NEGATIVE_INFINITY || host.confirmedOffline;
        if (host.told === null || !isKnowledge || (which === "fresh" && !host.unreported)) continue;
        host.unreported = false;
        hosts.push({ ...presenceOf(host, host.told), presence_state: host.told.presence });
        if (hosts.length === HOSTS_A_REPORT) send();
      }
      send();
    },
    saveSightings(limit) {
      const hosts: Host[] = [];
      for (const host of table.all()) {
        if (hosts.length >= limit) break;
        if (host.unsaved && host.told !== null) hosts.push(host);
      }
      if (hosts.length === 0) return false;
      const saved = publisher.publish([], () => {
        for (const host of hosts) store.touch(host);
      });
      if (saved) for (const host of hosts) host.unsaved = false;
      return saved && hosts.length === limit;
    },
  };
}
