import type { Guard, GuardDeps } from "../guard.ts";
import { createNewcomers } from "../newcomers.ts";
import { createSearch } from "../search.ts";
import { createKnownServers6, type KnownServer6 } from "./known-servers6.ts";
import { readServerMessage6, type ServerMessage6 } from "./server-message6.ts";
import { encodeServerSearch6 } from "./server-search6.ts";
import { createSuspects6, goesBeyond } from "./suspects6.ts";

const NAME = "DHCPv6 servers";
const MAX_DOUBTFUL = 64;
/** The MAC of a server that was silent for so long may be replaced. */
const FAILOVER_MS = 60_000;
/** A network that wants DHCPv6 has a router that says so. It is waited for so long, and solicited meanwhile by the guard of routers. */
const ROUTER_MS = 4000;
const MAX_TEXTS = 16;
/** New servers in the learning period; no network brings more at once. */
const FLOOD = { max: 32, withinMs: 10_000 };

/** Finds DHCPv6 servers that do not belong to the link. It listens, and asks all servers; it never takes an address. @see RFC 8415 */
export function createDhcpv6ServersGuard(deps: GuardDeps): Guard {
  const { clock, learning } = deps;
  const known = createKnownServers6({ ...deps, guard: NAME });
  const search = createSearch({ ...deps, encode: encodeServerSearch6, idBits: 24 });
  const { accuse, isAny, isOpen, end } = createSuspects6({ ...deps, known, onHint: search.hint });
  /** In the learning period: who names itself as name server while no router asks for DHCPv6. */
  const doubtful = new Map<string, { readonly at: number; readonly said: ServerMessage6 }>();
  const newcomers = createNewcomers(FLOOD);
  let routerAt = Number.NEGATIVE_INFINITY;
  const isAllowed = ({ address }: ServerMessage6) => deps.settings().dhcp_servers.includes(address);

  /** It is the server that it says it is: what is new of it is kept. */
  function refresh(row: KnownServer6, said: ServerMessage6): void {
    const now = clock.monotonic();
    const isNewMac = !row.macs.includes(said.mac);
    if (isNewMac && !learning.isOn() && now - row.heardAt < FAILOVER_MS) return;
    row.heardAt = now;
    if (widen(row, said)) known.save(row);
  }

  function hearNew(said: ServerMessage6): void {
    const now = clock.monotonic();
    const rival = known.all().find((row) => row.vlanId === said.vlanId && row.relayLink === said.relayLink && row.duid !== said.duid && contradicts(row, said));
    if (rival || isOpen(said)) return accuse(said, null);
    const flood = newcomers.add(said.duid, now);
    for (const duid of flood ?? []) known.forget(duid);
    if (flood) return accuse(said, null);
    // Who poisons names by DHCPv6 (mitm6) answers where no router has asked for it.
    if (said.dns.includes(said.address) && routerAt === Number.NEGATIVE_INFINITY) {
      if (doubtful.size < MAX_DOUBTFUL && !doubtful.has(said.duid)) doubtful.set(said.duid, { at: now, said: { ...said, packet: said.packet.slice() } });
      return search.hint();
    }
    known.learn(said);
  }

  function hear(said: ServerMessage6): void {
    const row = known.find(said);
    if (row) {
      const isWrong = !row.macs.includes(said.mac) && (hasMore(said.dns, row.dns) || goesBeyond(said.networks, row.networks));
      return isWrong && !isAllowed(said) ? accuse(said, row) : refresh(row, said);
    }
    const namesake = known.all().find(({ duid }) => duid === said.duid);
    if (namesake && !namesake.macs.includes(said.mac) && hasMore(said.dns, namesake.dns)) return accuse(said, namesake);
    if (isAllowed(said)) end(said);
    // The same host under another DUID, as after a new installation.
    const isItself = known.all().some((other) => other.vlanId === said.vlanId && other.relayLink === said.relayLink && other.macs.includes(said.mac) && !contradicts(other, said));
    if (namesake || isItself || isAllowed(said)) return known.learn(said);
    if (learning.isOn()) return hearNew(said);
    accuse(said, null);
  }

  return {
    name: NAME,
    onUdp(at) {
      const { destinationPort } = at.frame;
      if (destinationPort !== 546 && destinationPort !== 547) return;
      const said = readServerMessage6(at);
      if (said) hear(said);
    },
    onNdp(message) {
      if (message.kind !== "router-advertisement" || !(message.isManaged || message.hasOtherConfiguration)) return;
      routerAt = clock.monotonic();
      for (const { said } of doubtful.values()) if (learning.isOn()) known.learn(said);
      doubtful.clear();
    },
    tick(now) {
      for (const [duid, { at, said }] of doubtful) {
        if (now - at < ROUTER_MS) continue;
        doubtful.delete(duid);
        accuse(said, null);
      }
      search.tick(now, isAny());
    },
    learned: known.learned,
  };
}

/** Adds what was said to what is known of a server, each list up to its limit. True if anything was new. */
function widen(row: KnownServer6, said: ServerMessage6): boolean {
  const before = [row.macs, row.addresses, row.dns, row.networks];
  row.macs = join(row.macs, [said.mac]);
  row.addresses = join(row.addresses, [said.address]);
  row.dns = join(row.dns, said.dns);
  row.networks = join(row.networks, said.networks);
  return [row.macs, row.addresses, row.dns, row.networks].some((texts, at) => texts.length !== before[at]?.length);
}

function contradicts(row: KnownServer6, said: ServerMessage6): boolean {
  return isDisjoint(row.dns, said.dns) || isDisjoint(row.networks, said.networks);
}

/** Unlike `goesBeyond`, something is more than nothing. */
function hasMore(some: readonly string[], known: readonly string[]): boolean {
  return some.some((one) => !known.includes(one));
}

function isDisjoint(a: readonly string[], b: readonly string[]): boolean {
  return a.length > 0 && b.length > 0 && !a.some((one) => b.includes(one));
}

function join(known: readonly string[], added: readonly string[]): string[] {
  return [...new Set([...known, ...added])].slice(0, MAX_TEXTS);
}
