import type { Clock } from "@lanthorn/runtime";
import { setName } from "../../hosts/names.ts";
import { createRoutedHost, type RoutedHost } from "../routed-host.ts";
import { createRoutedHostIndex } from "./host-index.ts";
import { createNetworkSilence } from "./network-silence.ts";
import { chooseDue, forgiveMisses, noteMiss, noteShown } from "./routed-presence.ts";

/** What a poll of addresses of one network has shown. */
export interface RoutedPollResult {
  /** The network's name: one host's answer shows that its way carries answers of the others. */
  readonly network: string;
  /** Whether an address was among those that were polled. */
  readonly wasPolled: (bytes: Uint8Array) => boolean;
  readonly answered: readonly Uint8Array[];
  /** False where something answers for the network: then silence says as little as an answer. */
  readonly isConclusive: boolean;
}

/** Hosts behind routers, and whether they are there; by the same rules as those of the own link, from polls instead of frames. */
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
  /** Takes a poll's result: newcomers come in, and hosts that were missed too often are offline. */
  apply(result: RoutedPollResult): void;
  /**
   * Known hosts of a network that are to be polled by themselves: those that are missed, with witnesses of the way beside them,
   * and those whose last poll is longer ago than `overdueMs`.
   */
  due(network: string, options: { readonly overdueMs: number; readonly mayAsk: (bytes: Uint8Array) => boolean }): readonly RoutedHost[];
  /** Nothing could be heard until now: no miss before it counts. */
  startAnew(): void;
  /** Removes those that are not to be kept. @returns Them. */
  keepOnly(isKept: (host: RoutedHost) => boolean): readonly RoutedHost[];
}

/** Twelve polls in the two minutes below which no host is offline. */
const RECHECK_AFTER_MS = 10_000;
/** While nobody of a network answers, as when the line there is down. */
const RECHECK_SILENT_AFTER_MS = 60_000;

interface RoutedTableDependencies {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly capacity: () => number;
  readonly onChange: (host: RoutedHost) => void;
  readonly onLeft: (host: RoutedHost) => void;
  readonly onRefused: () => void;
}

/**
 * @param deps.capacity How many there may be.
 * @param deps.onChange Its presence or its name is not what it was, or it is new.
 * @param deps.onLeft A host was removed to make room for another one.
 * @param deps.onRefused There is no room for a host.
 */
export function createRoutedTable(deps: RoutedTableDependencies): RoutedTable {
  const { clock } = deps;
  const index = createRoutedHostIndex();
  const silence = createNetworkSilence();

  const setPresence = (host: RoutedHost, presence: RoutedHost["presence"]) => {
    if (index.setPresence(host, presence)) deps.onChange(host);
  };
  const see = (host: RoutedHost, isAnswer: boolean) => {
    noteShown(host, clock, isAnswer);
    setPresence(host, "online");
  };
  /** The longest offline leaves; hosts that are there do not. */
  const makeRoom = () => {
    const leaving = index.longestOffline();
    if (!leaving) return;
    index.remove(leaving);
    deps.onLeft(leaving);
  };
  const admit = (bytes: Uint8Array, network: string) => {
    if (index.size >= deps.capacity()) makeRoom();
    if (index.size >= deps.capacity()) return deps.onRefused();
    const host = createRoutedHost({ bytes, foundAt: clock.now(), silentFrom: clock.monotonic() });
    index.add(host, network);
    host.polledAt = clock.monotonic();
    see(host, false);
    deps.onChange(host);
  };
  return {
    get size() {
      return index.size;
    },
    get online() {
      return index.online;
    },
    all: () => index.all(),
    restore: (host, network) => index.add(host, network),
    noteSeen(address) {
      const host = index.get(address);
      if (host) see(host, false);
    },
    noteName(address, name) {
      const host = index.get(address);
      if (host && setName(host, "reverse-dns", name, clock.now())) deps.onChange(host);
    },
    apply({ network, wasPolled, answered, isConclusive }) {
      const now = clock.monotonic();
      const there = new Set(answered.map(keyOf));
      const polled = index.ofNetwork(network).filter(({ bytes }) => wasPolled(bytes));
      if (answered.length > 0) silence.end(network);
      else if (isConclusive && polled.some(({ presence }) => presence === "online")) silence.begin(network, now);
      const counts = answered.length > 0 || silence.isBelieved(network, now);
      for (const host of polled) {
        host.polledAt = now;
        if (there.delete(keyOf(host.bytes))) see(host, true);
        else if (isConclusive && noteMiss(host, now, counts)) setPresence(host, "offline");
      }
      for (const bytes of answered) if (there.has(keyOf(bytes))) admit(bytes, network);
    },
    due(network, { overdueMs, mayAsk }) {
      const now = clock.monotonic();
      const present = index.ofNetwork(network).filter(({ presence, bytes }) => presence === "online" && mayAsk(bytes));
      const doubtedAfterMs = silence.isInDoubt(network, now) ? RECHECK_SILENT_AFTER_MS : RECHECK_AFTER_MS;
      return chooseDue(present, { now, doubtedAfterMs, overdueMs });
    },
    startAnew() {
      silence.clear();
      for (const host of index.all()) forgiveMisses(host, clock.monotonic());
    },
    keepOnly(isKept) {
      const leaving = [...index.all()].filter((host) => !isKept(host));
      for (const host of leaving) index.remove(host);
      return leaving;
    },
  };
}

/** Bytes as a key of a set. */
function keyOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
