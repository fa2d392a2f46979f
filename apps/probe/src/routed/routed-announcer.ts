import type { EventData, ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Publisher } from "../queue/publisher.ts";
import { describeRoutedHost, type RoutedHost, routedStateOf } from "./routed-host.ts";
import type { RoutedHostsStore } from "./routed-hosts-store.ts";

/** Publishes hosts behind routers, by comparing their state with the one that was published last. */
export interface RoutedAnnouncer {
  /** This host may have changed. */
  change(host: RoutedHost): void;
  /** A published host was removed from the table. */
  forget(host: RoutedHost): void;
  /** Writes down what is due: states and events in one transaction. What cannot be written stays due. Call it each second. */
  flush(): void;
  /** Appends when hosts were last seen, and writes that down. @param which `fresh`: those seen since their last report. */
  report(hosts: Iterable<RoutedHost>, which: "fresh" | "all"): void;
}

const HOSTS_A_FLUSH = 500;
/** The contract's limit. */
const HOSTS_A_REPORT = 500;

/** @param deps.store Saved in the same transaction as the events, with `deps.publisher`. */
export function createRoutedAnnouncer(deps: {
  readonly store: RoutedHostsStore;
  readonly publisher: Publisher;
  readonly clock: Pick<Clock, "now">;
}): RoutedAnnouncer {
  const { store, publisher, clock } = deps;
  const due = new Set<RoutedHost>();
  const left = new Set<string>();

  const presenceOf = ({ address, lastSeenAt }: RoutedHost) => ({ ip: address, mac: "" as const, last_seen_at: toInstant(lastSeenAt) });
  const eventsFor = (host: RoutedHost): ProbeEvent[] => {
    const occurred_at = toInstant(clock.now());
    const { published } = host;
    const events: ProbeEvent[] = [];
    const state = () => describeRoutedHost(host, [], toInstant(host.lastSeenAt));
    if (published === null) events.push({ type: "host_found", occurred_at, data: state() });
    else if (published.hostname !== routedStateOf(host).hostname) {
      events.push({ type: "host_changed", occurred_at, data: { ...state(), changed: ["hostname"] } });
    }
    if ((published?.presence ?? "online") === host.presence) return events;
    if (host.presence === "online") events.push({ type: "host_online", occurred_at, data: presenceOf(host) });
    else events.push({ type: "host_offline", occurred_at, data: { ...presenceOf(host), missed_checks: host.missedChecks } });
    return events;
  };
  return {
    change(host) {
      due.add(host);
      left.delete(host.address);
    },
    forget(host) {
      due.delete(host);
      if (host.published !== null) left.add(host.address);
    },
    flush() {
      const ready = [...due].slice(0, HOSTS_A_FLUSH);
      if (ready.length + left.size === 0) return;
      const isWritten = publisher.publish(ready.flatMap(eventsFor), () => {
        for (const address of left) store.remove(address);
        for (const host of ready) store.save(host);
      });
      if (!isWritten) return;
      left.clear();
      for (const host of ready) {
        host.published = routedStateOf(host);
        due.delete(host);
      }
    },
    report(hosts, which) {
      const isKnowledge = (host: RoutedHost) => host.watch.seenAt !== Number.NEGATIVE_INFINITY || host.confirmedOffline;
      const isPublished = (host: RoutedHost) => host.published?.presence === host.presence;
      const some = [...hosts].filter((host) => isPublished(host) && isKnowledge(host) && (which === "all" || host.unreported));
      for (let first = 0; first < some.length; first += HOSTS_A_REPORT) {
        const part = some.slice(first, first + HOSTS_A_REPORT);
        const data: EventData<"presence_report"> = { hosts: part.map((host) => ({ ...presenceOf(host), presence_state: host.presence })) };
        const isWritten = publisher.publish([{ type: "presence_report", occurred_at: toInstant(clock.now()), data }], () => {
          for (const host of part) store.save(host);
        });
        if (isWritten) for (const host of part) host.unreported = false;
      }
    },
  };
}
