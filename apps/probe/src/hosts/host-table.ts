import { ipv4Number } from "@lanthorn/packets";
import { type Binding, type Host, MAX_BINDINGS, standingMs } from "./host.ts";

/** All known hosts, found by MAC and by address; never more than its limit. */
export interface HostTable {
  readonly size: number;
  readonly online: number;
  byMac(key: number): Host | undefined;
  /** Hosts that were seen at an address: several where two claim it, or where one followed the other. */
  atAddress(address: string): readonly Host[];
  /** The entries of these hosts for the address. */
  bindingsAt(address: string): readonly Binding[];
  /** Every host, oldest entry first; it may be changed meanwhile. */
  all(): IterableIterator<Host>;
  /**
   * @param now Milliseconds since the epoch.
   * @returns The hosts that had to leave for it, or null when there is no room and nobody who may leave.
   */
  add(host: Host, now: number): readonly Host[] | null;
  /** @returns False when the host has as many addresses as it may, or all hosts together have as many beyond their first ones. */
  addBinding(host: Host, binding: Binding): boolean;
  removeBinding(host: Host, binding: Binding): void;
  setPresence(host: Host, presence: Host["presence"]): void;
}

/** Leave together, as finding the oldest reads the whole table. */
const LEAVING_SHARE = 0.01;
/** Who was there for less is a passer-by or made up, and leaves first. */
const BRIEF_MS = 3_600_000;
/** A longer absence than that, and than the host was ever there for, ends its claim to a place. */
const MAX_ABSENCE_MS = 7 * 86_400_000;
/** Addresses that each host has room for: IPv4, link-local, and two of a changing prefix. */
const BINDINGS_OF_ITS_OWN = 4;
/** What all hosts share beyond that, for each host of the table's limit, and at least: a made-up MAC with 256 addresses takes 100 KB. */
const SHARED_BINDINGS_A_HOST = 4;
const MIN_SHARED_BINDINGS = 4096;

/** Hosts that were looked for last, a power of two: a map calls out of its code for a number of 48 bits, for each frame. */
const RECENT = 8192;
const slotOf = (key: number) => (Math.imul(key | 0, 0x9e3779b1) ^ ((key / 2 ** 32) | 0)) >>> 19;

/** @param maxHosts When it is full, the next newcomer makes room by up to one percent of it: hosts that are offline. */
export function createHostTable(maxHosts: number): HostTable {
  const byMac = new Map<number, Host>();
  const recent = Array.from<Host | undefined>({ length: RECENT });
  const addresses = createAddressIndex();
  const maxShared = Math.max(maxHosts * SHARED_BINDINGS_A_HOST, MIN_SHARED_BINDINGS);
  const sharedBy = ({ bindings }: Host) => Math.max(0, bindings.length - BINDINGS_OF_ITS_OWN);
  let shared = 0;
  let online = 0;

  const remove = (host: Host) => {
    byMac.delete(host.key);
    recent[slotOf(host.key)] = undefined;
    shared -= sharedBy(host);
    if (host.presence === "online") online -= 1;
    for (const binding of host.bindings) addresses.remove(host, binding);
  };
  const makeRoom = (now: number): readonly Host[] => {
    const leaving = leavingHosts([...byMac.values()], now).slice(0, Math.ceil(maxHosts * LEAVING_SHARE));
    for (const host of leaving) remove(host);
    return leaving;
  };
  return {
    get size() {
      return byMac.size;
    },
    get online() {
      return online;
    },
    byMac(key) {
      const slot = slotOf(key);
      const last = recent[slot];
      if (last?.key === key) return last;
      const host = byMac.get(key);
      if (host) recent[slot] = host;
      return host;
    },
    atAddress: addresses.hostsAt,
    bindingsAt: addresses.bindingsAt,
    all: () => byMac.values(),
    add(host, now) {
      const left = byMac.size >= maxHosts ? makeRoom(now) : [];
      if (byMac.size >= maxHosts) return null;
      byMac.set(host.key, host);
      shared += sharedBy(host);
      if (host.presence === "online") online += 1;
      for (const binding of host.bindings) addresses.add(host, binding);
      return left;
    },
    addBinding(host, binding) {
      const isShared = host.bindings.length >= BINDINGS_OF_ITS_OWN;
      if (host.bindings.length >= MAX_BINDINGS || (isShared && shared >= maxShared)) return false;
      host.bindings.push(binding);
      if (isShared) shared += 1;
      addresses.add(host, binding);
      return true;
    },
    removeBinding(host, binding) {
      const at = host.bindings.indexOf(binding);
      if (at < 0) return;
      if (host.bindings.length > BINDINGS_OF_ITS_OWN) shared -= 1;
      host.bindings.splice(at, 1);
      addresses.remove(host, binding);
    },
    setPresence(host, presence) {
      if (host.presence === presence) return;
      host.presence = presence;
      online += presence === "online" ? 1 : -1;
    },
  };
}

/** Who was seen at each address. */
function createAddressIndex() {
  const byAddress = new Map<string, { readonly hosts: Host[]; readonly bindings: Binding[] }>();
  return {
    hostsAt: (address: string): readonly Host[] => byAddress.get(address)?.hosts ?? [],
    bindingsAt: (address: string): readonly Binding[] => byAddress.get(address)?.bindings ?? [],
    add(host: Host, binding: Binding) {
      const there = byAddress.get(binding.address);
      there?.hosts.push(host);
      there?.bindings.push(binding);
      if (!there) byAddress.set(binding.address, { hosts: [host], bindings: [binding] });
    },
    remove(host: Host, binding: Binding) {
      const { hosts = [], bindings = [] } = byAddress.get(binding.address) ?? {};
      const left = { hosts: hosts.filter((other) => other !== host), bindings: bindings.filter((other) => other !== binding) };
      if (left.hosts.length > 0) byAddress.set(binding.address, left);
      else byAddress.delete(binding.address);
    },
  };
}

/**
 * Those who may leave, the first to leave first. Only who is offline leaves: who was there briefly, then who is away for long, then who was
 * there for the shorter time. Of the half that was there for the longer time nobody leaves but who is away for long: a flood that answers
 * is online, and must not push out history.
 */
function leavingHosts(hosts: readonly Host[], now: number): readonly Host[] {
  const median = Float64Array.from(hosts, standingMs).sort()[Math.floor(hosts.length / 2)] ?? 0;
  const claimOf = (host: Host): number => {
    const standing = standingMs(host);
    if (standing < BRIEF_MS) return host.watch.answered > 0 ? 1 : 0;
    return now - host.lastSeenAt > Math.max(MAX_ABSENCE_MS, standing) ? 2 : standing <= median ? 3 : 4;
  };
  return hosts.flatMap((host) => (host.presence === "offline" ? [{ host, claim: claimOf(host) }] : []))
    .filter(({ claim }) => claim < 4)
    .sort((a, b) => a.claim - b.claim || standingMs(a.host) - standingMs(b.host) || a.host.lastSeenAt - b.host.lastSeenAt)
    .map(({ host }) => host);
}

/** Who is at an address now: more than one where hosts fight for it. */
export function onlineAt(table: Pick<HostTable, "atAddress">, address: string): readonly Host[] {
  return table.atAddress(address).filter(({ presence }) => presence === "online");
}

/** The IPv4 addresses of hosts that are online, as numbers. */
export function onlineIpv4(table: HostTable): ReadonlySet<number> {
  const bindings = [...table.all()].flatMap((host) => (host.presence === "online" ? host.bindings : []));
  return new Set(bindings.filter(({ bytes }) => bytes.length === 4).map(({ bytes }) => ipv4Number(bytes)));
}

/** The IPv6 addresses of hosts that are online. */
export function onlineIpv6(table: HostTable): readonly Uint8Array[] {
  const bindings = [...table.all()].flatMap((host) => (host.presence === "online" ? host.bindings : []));
  return bindings.filter(({ bytes }) => bytes.length === 16).map(({ bytes }) => bytes);
}
