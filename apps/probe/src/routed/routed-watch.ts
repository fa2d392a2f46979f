import type { Clock, Log } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import { type AddressPrefix, prefixHolds } from "@lanthorn/packets";
import type { Link } from "../capture/link.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import { addressesInList, addressesInRange } from "../probing/routed-addresses.ts";
import { createPublisher, type EventSink } from "../queue/publisher.ts";
import { createRoutedAnnouncer } from "./routed-announcer.ts";
import type { RoutedHost } from "./routed-host.ts";
import { createRoutedHostsStore } from "./routed-hosts-store.ts";
import { createRoutedPlan } from "./routed-plan.ts";
import type { RoutedPoll } from "./routed-poll.ts";
import { createRoutedPoller, type RoutedRequest } from "./routed-poller.ts";
import { createRoutedTable } from "./table/routed-table.ts";

/** Polls networks behind routers by schedule, and keeps who is there. */
export interface RoutedWatch {
  /** Takes up what an earlier run knew. */
  start(): void;
  /** Call it each second, whether the link is up or not. */
  tick(now: number): void;
  /** The next round begins now; one in progress goes on. */
  roundNow(): void;
  /** A scan saw a host. */
  noteSeen(address: string): void;
  /** DNS calls an address so. */
  onName(address: string, name: string): void;
  /** The link has changed, or nothing could be heard until now. */
  startAnew(): void;
  /** Appends presence reports. @param which As `HostAnnouncer.report`. */
  report(which: "fresh" | "all"): void;
  readonly counts: { readonly online: number; readonly known: number };
  /** Whether frames of it are going out: then half of the rate is its. */
  readonly isPolling: boolean;
  /** Ends the poll in progress, and writes down what is not yet written. */
  abort(reason: string): Promise<void>;
}

/** A round of large networks takes longer than the interval: then known hosts are polled between its parts. */
const OVERDUE_INTERVALS = 1.25;
/** Names are old by then, or were never asked for. */
const NAMES_WANTED_EVERY_MS = 60_000;
/** @param deps.poll As `pollBehindRouter`, by the way to the first of the addresses. */
export function createRoutedWatch(deps: {
  readonly prefixes: readonly AddressPrefix[];
  readonly policy: Pick<EgressPolicy, "sweepEnabled" | "sweepIntervalMs" | "packetsPerSecond" | "exclusions">;
  readonly poll: (request: RoutedRequest) => Promise<RoutedPoll>;
  readonly link: () => Link | null;
  /** How many hosts there may be. */
  readonly capacity: () => number;
  readonly db: Database;
  readonly outbox: EventSink;
  /** A host that is there may have a name, if it is due to be asked for. */
  readonly wantName: (host: RoutedHost) => unknown;
  readonly clock: Clock;
  readonly log: Log;
  /** Says once in a while that something is not done, and why. */
  readonly onFault: (code: string, message: string) => void;
}): RoutedWatch {
  const { policy, clock } = deps;
  const store = createRoutedHostsStore(deps.db);
  const announcer = createRoutedAnnouncer({ store, clock, publisher: createPublisher({ ...deps, what: "hosts behind routers" }) });
  const onChange = (host: RoutedHost) => {
    announcer.change(host);
    if (host.presence === "online") deps.wantName(host);
  };
  const table = createRoutedTable({
    ...deps, onChange, onLeft: (host) => announcer.forget(host),
    onRefused: () => deps.onFault("host-limit", "hosts behind routers are left out: the table of hosts is full"),
  });
  const plan = createRoutedPlan(deps);
  const poller = createRoutedPoller({
    ...deps,
    onResult(result) {
      table.apply(result);
      announcer.flush();
    },
    onFailed: (network) => plan.pause(network, clock.monotonic()),
  });
  let namesWantedAt = Number.NEGATIVE_INFINITY;

  const pollNext = (now: number) => {
    const options = { overdueMs: policy.sweepIntervalMs * OVERDUE_INTERVALS, mayAsk: (bytes: Uint8Array) => !policy.exclusions.holds(bytes) };
    for (const network of plan.ready(now)) {
      const due = table.due(network.name, options);
      if (due.length > 0) return poller.begin(network, addressesInList(due.map(({ bytes }) => bytes)));
    }
    const part = plan.nextPart(now);
    if (part) poller.begin(part.network, addressesInRange(part.range));
  };
  return {
    start() {
      for (const host of store.load(clock.monotonic())) {
        const network = plan.networkOf(host.bytes);
        if (network !== null && table.size < deps.capacity()) table.restore(host, network);
        else announcer.forget(host);
      }
    },
    tick(now) {
      announcer.flush();
      const link = deps.link();
      if (link && now - namesWantedAt >= NAMES_WANTED_EVERY_MS) {
        namesWantedAt = now;
        for (const host of table.all()) if (host.presence === "online") deps.wantName(host);
      }
      if (!link || !policy.sweepEnabled || poller.isPolling || deps.prefixes.length === 0) return;
      // Who is a neighbor now is known by its MAC.
      if (plan.update(link)) for (const host of table.keepOnly((one) => !isNeighbor(link, one))) announcer.forget(host);
      pollNext(now);
    },
    roundNow: () => plan.roundNow(),
    noteSeen: (address) => table.noteSeen(address),
    onName: (address, name) => table.noteName(address, name),
    startAnew: () => table.startAnew(),
    report: (which) => announcer.report(table.all(), which),
    get counts() {
      return { online: table.online, known: table.size };
    },
    get isPolling() {
      return poller.isPolling;
    },
    async abort(reason) {
      await poller.abort(reason);
      announcer.flush();
    },
  };
}

function isNeighbor(link: Link, { bytes }: RoutedHost): boolean {
  return link.own.some(({ subnet }) => prefixHolds(subnet, bytes, 0, bytes.length));
}
