import type { Clock } from "@lanthorn/runtime";
import { setName } from "../hosts/names.ts";
import { missesNeeded, noteAsked, noteSeen, OFFLINE_FLOOR_MS, SILENCE_BELIEVED_MS, startAnew } from "../hosts/presence.ts";
import { createRoutedHost, type RoutedHost } from "./routed-host.ts";

/** What came of a look at addresses of one network. */
export interface RoutedLookEnd {
  /** The network's name: one host's answer shows that its way carries answers of the others. */
  readonly network: string;
  /** Whether an address was among those that were asked. */
  readonly wasAsked: (bytes: Uint8Array) => boolean;
  readonly answered: readonly Uint8Array[];
  /** False where something answers for the network: then silence says as little as an answer. */
  readonly isConclusive: boolean;
}

/** Hosts behind routers, and whether they are there; by the same rules as those of the own link, from looks instead of frames. */
export interface RoutedTable {
  readonly size: number;
  readonly online: number;
  all(): IterableIterator<RoutedHost>;
  /** Takes a host from before the start. */
  restore(host: RoutedHost, network: string): void;
  /** A host has shown itself otherwise: a scan saw it. Nothing for one that is not known. */
  noteSeen(address: string): void;
  /** DNS calls the address so. Nothing for one that is not known. */
  noteName(address: string, name: string): void;
  /** A look has ended: newcomers come in, those that are missed too often go. */
  ended(look: RoutedLookEnd): void;
  /**
   * Known hosts of a network that are to be asked by themselves: those that are missed, with witnesses of the way beside them,
   * and those whose last look is longer ago than `overdueMs`.
   */
  due(network: string, options: { readonly overdueMs: number; readonly mayAsk: (bytes: Uint8Array) => boolean }): readonly RoutedHost[];
  /** Nothing could be heard until now: no miss before it counts. */
  startAnew(): void;
  /** Lets go of those that are not to be held any more. @returns Them. */
  keepOnly(isKept: (host: RoutedHost) => boolean): readonly RoutedHost[];
}

/** Twelve looks in the two minutes below which nobody is given up. */
const RECHECK_AFTER_MS = 10_000;
/** While nobody of a network answers, as when the line there is down. */
const RECHECK_SILENT_AFTER_MS = 60_000;
const WITNESSES = 3;
/** One look takes no more: with these it lasts seconds. */
const MAX_DUE = 256;

/**
 * @param deps.room How many there may be.
 * @param deps.onChange Its presence or its name is not what it was, or it is new.
 * @param deps.onLeft A host that was given up for another one.
 * @param deps.onRefused There is no room for a host.
 */
export function createRoutedTable(deps: {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly room: () => number;
  readonly onChange: (host: RoutedHost) => void;
  readonly onLeft: (host: RoutedHost) => void;
  readonly onRefused: () => void;
}): RoutedTable {
  const { clock } = deps;
  const byAddress = new Map<string, RoutedHost>();
  const byNetwork = new Map<string, Set<RoutedHost>>();
  /** Since when nobody of a network answers any more. */
  const silentFrom = new Map<string, number>();
  let online = 0;

  const setPresence = (host: RoutedHost, presence: RoutedHost["presence"]) => {
    if (host.presence === presence) return;
    host.presence = presence;
    online += presence === "online" ? 1 : -1;
    deps.onChange(host);
  };
  const see = (host: RoutedHost, isAnswer: boolean) => {
    const now = clock.monotonic();
    if (isAnswer) noteAsked(host.watch, now);
    noteSeen(host.watch, now);
    Object.assign(host, { isDoubted: false, missedFrom: null, seenWallAt: clock.now(), unreported: true, confirmedOffline: false });
    setPresence(host, "online");
  };
  const add = (host: RoutedHost, network: string) => {
    byAddress.set(host.address, host);
    const there = byNetwork.get(network);
    if (there) there.add(host);
    else byNetwork.set(network, new Set([host]));
    if (host.presence === "online") online += 1;
  };
  const remove = (host: RoutedHost) => {
    byAddress.delete(host.address);
    for (const hosts of byNetwork.values()) hosts.delete(host);
    if (host.presence === "online") online -= 1;
  };
  /** The longest offline leaves; hosts that are there do not. */
  const makeRoom = () => {
    const offline = [...byAddress.values()].filter(({ presence }) => presence === "offline");
    const leaving = offline.toSorted((a, b) => a.seenWallAt - b.seenWallAt)[0];
    if (!leaving) return;
    remove(leaving);
    deps.onLeft(leaving);
  };
  const admit = (bytes: Uint8Array, network: string) => {
    if (byAddress.size >= deps.room()) makeRoom();
    if (byAddress.size >= deps.room()) return deps.onRefused();
    const host = createRoutedHost({ bytes, foundWallAt: clock.now(), silentFrom: clock.monotonic() });
    add(host, network);
    host.lookedAt = clock.monotonic();
    see(host, false);
    deps.onChange(host);
  };
  const hostsOf = (network: string) => [...(byNetwork.get(network) ?? [])];
  const isSilenceBelieved = (network: string, now: number) => now - (silentFrom.get(network) ?? now) >= SILENCE_BELIEVED_MS;
  const miss = (host: RoutedHost, counts: boolean) => {
    const now = clock.monotonic();
    host.isDoubted = host.presence === "online";
    if (!counts) return;
    if (host.presence === "offline") {
      host.unreported ||= !host.confirmedOffline;
      host.confirmedOffline = true;
      return;
    }
    host.watch.misses += 1;
    host.missedFrom ??= now;
    if (host.watch.misses < missesNeeded(host.watch) || now - host.missedFrom < OFFLINE_FLOOR_MS) return;
    host.missedChecks = host.watch.misses;
    Object.assign(host, { confirmedOffline: true, unreported: true, isDoubted: false });
    setPresence(host, "offline");
  };
  return {
    get size() {
      return byAddress.size;
    },
    get online() {
      return online;
    },
    all: () => byAddress.values(),
    restore: add,
    noteSeen(address) {
      const host = byAddress.get(address);
      if (host) see(host, false);
    },
    noteName(address, name) {
      const host = byAddress.get(address);
      if (host && setName(host, "reverse-dns", name, clock.now())) deps.onChange(host);
    },
    ended({ network, wasAsked, answered, isConclusive }) {
      const now = clock.monotonic();
      const keyOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
      const there = new Set(answered.map(keyOf));
      if (answered.length > 0) silentFrom.delete(network);
      const asked = hostsOf(network).filter(({ bytes }) => wasAsked(bytes));
      const isSilent = isConclusive && answered.length === 0 && asked.some(({ presence }) => presence === "online");
      if (isSilent && !silentFrom.has(network)) silentFrom.set(network, now);
      const counts = answered.length > 0 || isSilenceBelieved(network, now);
      for (const host of asked) {
        host.lookedAt = now;
        if (there.delete(keyOf(host.bytes))) see(host, true);
        else if (isConclusive) miss(host, counts);
      }
      for (const bytes of answered) if (there.has(keyOf(bytes))) admit(bytes, network);
    },
    due(network, { overdueMs, mayAsk }) {
      const now = clock.monotonic();
      const present = hostsOf(network).filter(({ presence, bytes }) => presence === "online" && mayAsk(bytes));
      const isLineInDoubt = silentFrom.has(network) && !isSilenceBelieved(network, now);
      const recheckAfterMs = isLineInDoubt ? RECHECK_SILENT_AFTER_MS : RECHECK_AFTER_MS;
      const isDue = ({ isDoubted, lookedAt }: RoutedHost) => now - lookedAt >= (isDoubted ? recheckAfterMs : overdueMs);
      const some = present.filter(isDue).toSorted((a, b) => a.lookedAt - b.lookedAt).slice(0, MAX_DUE);
      if (!some.some(({ isDoubted }) => isDoubted)) return some;
      const witnesses = present.filter((host) => !host.isDoubted && !some.includes(host));
      return [...some, ...witnesses.toSorted((a, b) => b.seenWallAt - a.seenWallAt).slice(0, WITNESSES)];
    },
    startAnew() {
      silentFrom.clear();
      for (const host of byAddress.values()) {
        startAnew(host.watch, clock.monotonic());
        host.missedFrom = null;
        host.isDoubted = false;
      }
    },
    keepOnly(isKept) {
      const leaving = [...byAddress.values()].filter((host) => !isKept(host));
      for (const host of leaving) remove(host);
      return leaving;
    },
  };
}
