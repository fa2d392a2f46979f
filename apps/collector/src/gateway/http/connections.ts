import type { Server, Socket } from "node:net";
import type { Clock } from "@lanthorn/runtime";
import { createAddressSet, limitGroup, plainAddress } from "./address.ts";

/** How many connections there may be at once. */
export interface ConnectionLimits {
  readonly total: number;
  /** From one IPv4 address, or from one /64 of IPv6. */
  readonly perAddress: number;
  /** Of those: without a valid credential so far. */
  readonly strangersPerAddress: number;
  /** From one trusted proxy, which brings the requests of many clients. */
  readonly perProxy: number;
}

/** One connection as long as it lasts. */
export interface Connection {
  /** A stranger has shown no valid credential so far. A proxy is trusted by the configuration. */
  kind(): "stranger" | "known" | "proxy";
  /** It has shown a valid credential. */
  known(): void;
  /** A request or a stream begins on it. @returns Ends that; a second call does nothing. */
  begin(): () => void;
}

/** All connections of one or more listeners. */
export interface Connections {
  /**
   * From now on the server gets only connections that are within the limits, or that displaced another; all others are closed.
   * That is decided before its own listeners make a parser or a TLS session for them. Call it when those are there.
   */
  guard(server: Server): void;
  /** @param socket As it arrived, or TLS over it. @returns Of one that is gone, an anonymous one of which nothing is stored. */
  of(socket: Socket): Connection;
  /** How many there are now. */
  count(): { readonly anonymous: number; readonly known: number };
}

/** An anonymous connection without a whole request head in this time, the TLS handshake included, is dropped. */
const FIRST_REQUEST_MS = 10_000;
/**
 * How many connections of one address may be displaced at once, and then in a second. Whoever connects faster is refused: that takes
 * a fraction of the time of a connection that is accepted and closed again, and all others wait in the same queue.
 */
const DISPLACED = { burst: 128, perSecond: 32 } as const;

interface Entry extends Connection {
  readonly drop: () => void;
  readonly isIdle: () => boolean;
}

/** Both in the order in which the connections came. Those of a trusted proxy are among the known. */
interface Pool {
  readonly anonymous: Set<Entry>;
  readonly known: Set<Entry>;
}

/** The connections of one address. */
interface Group extends Pool {
  /** How many of them may be displaced now, and when that was counted. */
  displaceable: number;
  countedAt: number;
}

/**
 * Without limits one client holds every slot, and nobody else is served. Over a limit the newcomer is accepted and another
 * connection is dropped: the oldest idle anonymous one, else the oldest anonymous one, else the oldest idle known one. A newcomer
 * is refused where every other connection is known and busy, or where its address displaces faster than `DISPLACED`.
 * @param options.trustedProxies Addresses and prefixes.
 */
export function createConnections(options: {
  readonly limits: ConnectionLimits; readonly trustedProxies: readonly string[]; readonly clock: Clock;
}): Connections {
  const { limits, clock } = options;
  const isProxy = createAddressSet(options.trustedProxies);
  const all = createPool();
  const groups = new Map<string, Group>();
  const entries = new Map<string, Entry>();

  const mayDisplace = (group: Group): boolean => {
    const now = clock.monotonic();
    group.displaceable = Math.min(DISPLACED.burst, group.displaceable + ((now - group.countedAt) / 1000) * DISPLACED.perSecond);
    group.countedAt = now;
    if (group.displaceable < 1) return false;
    group.displaceable -= 1;
    return true;
  };
  /** Makes space for one more from this group. @returns False where there is none to be made. */
  const makeSpace = (group: Group | undefined, fromProxy: boolean): boolean => {
    if (group && sizeOf(group) >= (fromProxy ? limits.perProxy : limits.perAddress)) return mayDisplace(group) && dropOne(group);
    if (group && !fromProxy && group.anonymous.size >= limits.strangersPerAddress) {
      return mayDisplace(group) && dropOne({ anonymous: group.anonymous, known: new Set() });
    }
    return sizeOf(all) < limits.total || dropOne(all);
  };

  const admit = (socket: Socket): boolean => {
    const address = plainAddress(socket.remoteAddress ?? "");
    const fromProxy = isProxy(address);
    const groupKey = fromProxy ? address : limitGroup(address);
    const key = makeSpace(groups.get(groupKey), fromProxy) ? keyOf(socket) : null;
    if (key === null) {
      socket.destroy();
      return false;
    }
    const group = groups.get(groupKey) ?? { ...createPool(), displaceable: DISPLACED.burst, countedAt: clock.monotonic() };
    groups.set(groupKey, group);
    const leave = () => {
      cancel();
      for (const pool of [all, group]) {
        pool.anonymous.delete(entry);
        pool.known.delete(entry);
      }
      if (entries.get(key) === entry) entries.delete(key);
      if (sizeOf(group) === 0 && groups.get(groupKey) === group) groups.delete(groupKey);
    };
    const entry = createEntry({
      fromProxy, pools: [all, group], onActive: () => cancel(),
      drop() {
        leave();
        socket.destroy();
      },
    });
    const cancel = clock.after(FIRST_REQUEST_MS, () => {
      if (entry.kind() === "stranger") entry.drop();
    });
    entries.set(key, entry);
    for (const pool of [all, group]) (fromProxy ? pool.known : pool.anonymous).add(entry);
    socket.once("close", leave);
    return true;
  };

  return {
    guard(server) {
      const serve = server.listeners("connection");
      server.removeAllListeners("connection");
      server.on("connection", (socket: Socket) => {
        if (admit(socket)) for (const listener of serve) listener.call(server, socket);
      });
    },
    of: (socket) => entries.get(keyOf(socket) ?? "") ?? NOBODY,
    count: () => ({ anonymous: all.anonymous.size, known: all.known.size }),
  };
}

const NOBODY: Connection = { kind: () => "stranger", known: () => {}, begin: () => () => {} };

function createEntry({ fromProxy, pools, onActive, drop }: {
  readonly fromProxy: boolean; readonly pools: readonly Pool[]; readonly onActive: () => void; readonly drop: () => void;
}): Entry {
  let isKnown = fromProxy;
  let inFlight = 0;
  const entry: Entry = {
    drop,
    isIdle: () => inFlight === 0,
    kind() {
      if (fromProxy) return "proxy";
      return isKnown ? "known" : "stranger";
    },
    known() {
      onActive();
      if (isKnown) return;
      isKnown = true;
      for (const pool of pools) if (pool.anonymous.delete(entry)) pool.known.add(entry);
    },
    begin() {
      onActive();
      inFlight += 1;
      let ended = false;
      return () => {
        if (!ended) inFlight -= 1;
        ended = true;
      };
    },
  };
  return entry;
}

function createPool(): Pool {
  return { anonymous: new Set(), known: new Set() };
}

function sizeOf({ anonymous, known }: Pool): number {
  return anonymous.size + known.size;
}

/** @returns Whether there was one to drop. */
function dropOne({ anonymous, known }: Pool): boolean {
  const entry = firstIdle(anonymous) ?? anonymous.values().next().value ?? firstIdle(known);
  entry?.drop();
  return entry !== undefined;
}

function firstIdle(entries: Iterable<Entry>): Entry | undefined {
  for (const entry of entries) if (entry.isIdle()) return entry;
  return undefined;
}

/** Both ends of a TCP connection, which TLS over it shares; null for one that is gone. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string | null {
  return remoteAddress === undefined || remotePort === undefined
    ? null
    : `${remoteAddress} ${remotePort} ${localAddress ?? ""} ${localPort ?? 0}`;
}
