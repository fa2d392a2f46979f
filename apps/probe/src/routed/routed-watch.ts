import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import type { RoutedHost } from "./routed-host.ts";
import { createRoutedHostsStore } from "./routed-hosts-store.ts";
import { createRoutedTable } from "./routed-table.ts";
import { createRoutedAnnouncer } from "./routed-announcer.ts";
import { type AddressPrefix, formatPrefix, prefixHolds } from "@lanthorn/packets";
import type { Link } from "../capture/link.ts";
import { createPublisher, type EventSink } from "../queue/publisher.ts";
import { addressesInList, addressesInRange, type RoutedAddresses, type RoutedRange } from "../probing/routed-addresses.ts";
import type { RoutedLook } from "./routed-look.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import { planTargets } from "../sweep/scan-targets.ts";

/** Looks at networks behind routers by schedule, and keeps who is there. */
export interface RoutedWatch {
  /** Takes up what an earlier run knew. */
  start(): void;
  /** Call it each second, whether the link is up or not. */
  tick(now: number): void;
  /** The next round begins now; one that is under way goes on. */
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
  readonly isAsking: boolean;
  /** Ends what is under way, and writes down what is not yet written. */
  abort(reason: string): Promise<void>;
}

/** Who is looked at, and what they are called in messages. */
export interface RoutedRequest {
  readonly network: string;
  readonly addresses: RoutedAddresses;
  readonly framesPerSecond: number;
  readonly signal: AbortSignal;
}

/** A firewall answers for a network of this size; smaller parts where the rate is low, so that who is missed need not wait for minutes. */
const MAX_IN_PART = 256;
const MIN_IN_PART = 64;
const PART_SECONDS = 30;
/** Who does not answer is asked so many questions. */
const QUESTIONS = 11;
/** A round of large networks takes longer than the interval: then who is known is asked between its parts. */
const OVERDUE_INTERVALS = 1.25;
/** Names are old by then, or were never asked for. */
const NAMES_WANTED_EVERY_MS = 60_000;
/** After what could not be asked: no way there, or the sender failed. */
const PAUSE_MS = 60_000;

interface Network {
  readonly name: string;
  readonly ranges: readonly RoutedRange[];
  pausedUntil: number;
}

/** @param deps.look As `lookBehindRouter`, by the way to the first of the addresses. */
export function createRoutedWatch(deps: {
  readonly prefixes: readonly AddressPrefix[];
  readonly policy: Pick<EgressPolicy, "sweepEnabled" | "sweepIntervalMs" | "packetsPerSecond" | "exclusions">;
  readonly look: (request: RoutedRequest) => Promise<RoutedLook>;
  readonly link: () => Link | null;
  /** How many hosts there may be. */
  readonly room: () => number;
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
  let networks: readonly Network[] = [];
  let plannedFor: string | null = null;
  let parts: { readonly network: Network; readonly range: RoutedRange }[] = [];
  let roundBeganAt = Number.NEGATIVE_INFINITY;
  let namesWantedAt = Number.NEGATIVE_INFINITY;
  let running: { readonly stop: AbortController; readonly ended: Promise<void> } | null = null;

  const networkOf = ({ bytes }: Pick<RoutedHost, "bytes">) => deps.prefixes.find((prefix) => prefixHolds(prefix, bytes, 0, bytes.length));
  const plan = (link: Link) => {
    plannedFor = link.fingerprint;
    parts = [];
    roundBeganAt = Number.NEGATIVE_INFINITY;
    networks = deps.prefixes.flatMap((prefix) => {
      const targets = planTargets(link, prefix);
      const ranges = "refused" in targets ? [] : targets.routed;
      const reason = "refused" in targets ? targets.refused : "it is part of this interface's own subnets";
      if (ranges.length === 0) deps.onFault("network-not-watched", `sweep.routed: ${formatPrefix(prefix)} is not polled: ${reason}`);
      return ranges.length === 0 ? [] : [{ name: formatPrefix(prefix), ranges, pausedUntil: Number.NEGATIVE_INFINITY }];
    });
    // Who is a neighbor now is known by its MAC.
    const isNeighbor = ({ bytes }: RoutedHost) => link.own.some(({ subnet }) => prefixHolds(subnet, bytes, 0, bytes.length));
    for (const host of table.keepOnly((one) => !isNeighbor(one))) announcer.forget(host);
  };
  const begin = (network: Network, addresses: RoutedAddresses) => {
    const stop = new AbortController();
    running = { stop, ended: lookAt(network, addresses, stop.signal).finally(() => {
      running = null;
    }) };
  };
  const lookAt = async (network: Network, addresses: RoutedAddresses, signal: AbortSignal) => {
    try {
      const { answered, madeUp, isRouterThere } = await deps.look({
        network: network.name, addresses, signal, framesPerSecond: Math.max(1, Math.floor(policy.packetsPerSecond / 2)),
      });
      if (!isRouterThere) {
        deps.onFault("router-silent", `the router to ${network.name} does not answer: hosts behind it are not seen`);
      }
      if (madeUp > 0) {
        const text =
          `in ${network.name} something answers for ${madeUp} addresses that cannot all be hosts: a firewall; they are not reported as hosts`;
        deps.onFault("answers-for-network", text);
      }
      const wasAsked = (bytes: Uint8Array) => addresses.placeOf(bytes, 0, bytes.length) >= 0 && !policy.exclusions.holds(bytes);
      table.ended({ network: network.name, wasAsked, answered: answered.filter(wasAsked), isConclusive: madeUp === 0 });
      announcer.flush();
    } catch (error) {
      if (signal.aborted) return;
      network.pausedUntil = clock.monotonic() + PAUSE_MS;
      parts = parts.filter((part) => part.network !== network);
      deps.onFault("network-not-watched", `sweep.routed: ${network.name} was not polled: ${describeError(error)}`);
    }
  };
  const partsOf = (network: Network) => {
    const fitting = (policy.packetsPerSecond / 2) * (PART_SECONDS / QUESTIONS);
    const size = Math.min(Math.max(2 ** Math.floor(Math.log2(Math.max(1, fitting))), MIN_IN_PART), MAX_IN_PART);
    return network.ranges.flatMap((range) => splitRange(range, size)).map((range) => ({ network, range }));
  };
  const next = (now: number) => {
    const ready = networks.filter(({ pausedUntil }) => now >= pausedUntil);
    for (const network of ready) {
      const due = table.due(network.name, {
        overdueMs: policy.sweepIntervalMs * OVERDUE_INTERVALS, mayAsk: (bytes) => !policy.exclusions.holds(bytes),
      });
      if (due.length > 0) return begin(network, addressesInList(due.map(({ bytes }) => bytes)));
    }
    if (parts.length === 0 && now - roundBeganAt >= policy.sweepIntervalMs) {
      roundBeganAt = now;
      parts = ready.flatMap(partsOf);
    }
    const part = parts.shift();
    if (part) begin(part.network, addressesInRange(part.range));
  };
  return {
    start() {
      for (const host of store.load(clock.monotonic())) {
        const prefix = networkOf(host);
        if (prefix && table.size < deps.room()) table.restore(host, formatPrefix(prefix));
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
      if (!link || !policy.sweepEnabled || running || deps.prefixes.length === 0) return;
      if (link.fingerprint !== plannedFor) plan(link);
      next(now);
    },
    roundNow() {
      roundBeganAt = Number.NEGATIVE_INFINITY;
    },
    noteSeen(address) {
      table.noteSeen(address);
    },
    onName(address, name) {
      table.noteName(address, name);
    },
    startAnew() {
      table.startAnew();
    },
    report: (which) => announcer.report(table.all(), which),
    get counts() {
      return { online: table.online, known: table.size };
    },
    get isAsking() {
      return running !== null;
    },
    async abort(reason) {
      const ending = running;
      ending?.stop.abort(new Error(reason));
      await ending?.ended;
      announcer.flush();
    },
  };
}

/** In parts that begin at multiples of their size. */
function splitRange({ first, count }: RoutedRange, size: number): readonly RoutedRange[] {
  const lowest = first.length - 4;
  const start = new DataView(first.buffer, first.byteOffset).getUint32(lowest);
  const begins = Math.floor(start / size);
  return Array.from({ length: Math.floor((start + count - 1) / size) - begins + 1 }, (_, index) => {
    const from = Math.max(start, (begins + index) * size);
    const bytes = first.slice();
    new DataView(bytes.buffer).setUint32(lowest, from);
    return { first: bytes, count: Math.min(start + count, (begins + index + 1) * size) - from };
  });
}
