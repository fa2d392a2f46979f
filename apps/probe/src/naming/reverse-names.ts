import { Resolver } from "node:dns/promises";
import { isLinkLocalIp, parseIp, reverseName } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { type Host, sortedBindings } from "../hosts/host.ts";
import { cleanName } from "../hosts/names.ts";

/** Who may have a name: a host of the own link by its primary address, one behind a router by the address it is known by. */
export type Nameable = Host | (Pick<Host, "reverseDueAt" | "reverseFailures"> & { readonly address: string });

/** Looks up what the site's DNS servers call the hosts' addresses, a few at a time, again and again at long intervals. */
export interface ReverseNames {
  /** Looks the host's address up if that is due. @returns False where too many wait: it is to be wanted again. */
  want(host: Nameable): boolean;
  /** Asks once more for hosts whose question no server answered, where that is due. */
  retry(now: number): void;
}

/** Small site routers answer a few queries at once and drop the rest. */
const MAX_AT_ONCE = 8;
/** More hosts than that wait for their next turn. */
const MAX_WAITING = 1024;
/** Names come with leases; most servers have them within minutes, many have none ever. */
const REFRESH_MS = 3_600_000;
const RETRY_FIRST_MS = 600_000;
const RETRY_LONGEST_MS = 21_600_000;
/** A server that did not answer says nothing of the name: these waits, then those of names that are not there. */
const UNANSWERED_RETRY_MS = [2000, 5000, 15_000, 60_000] as const;
const MAX_UNANSWERED = 1024;
/** The server's own word that there is no name. @see https://nodejs.org/api/dns.html#error-codes */
const NO_NAME_CODES: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA"]);

/**
 * @param deps.lookUp Names of an address, best first; rejects with a code of `node:dns`. Eight run at once.
 * @param deps.random In [0, 1): spreads the lookups of hosts that were found together.
 */
export function createReverseNames(deps: {
  readonly lookUp: (address: string) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onName: (address: string, name: string) => void;
}): ReverseNames {
  const { clock } = deps;
  const waiting = new Set<Nameable>();
  const unanswered = new Map<Nameable, { tries: number; dueAt: number }>();
  /** The address that was last asked for: a host is often seen first by an IPv6 address, and has its name by its IPv4 address. */
  const askedFor = new WeakMap<Nameable, string>();
  let running = 0;

  /** @returns Whether it is to be asked again soon. */
  const noteUnanswered = (host: Nameable): boolean => {
    const tries = unanswered.get(host)?.tries ?? 0;
    const pause = UNANSWERED_RETRY_MS[tries];
    if (pause === undefined || unanswered.size >= MAX_UNANSWERED) return false;
    unanswered.set(host, { tries: tries + 1, dueAt: clock.monotonic() + pause });
    return true;
  };
  const lookUp = async (host: Nameable, address: string) => {
    running += 1;
    const names = await deps.lookUp(address).catch((error: unknown) => (NO_NAME_CODES.has((error as { code?: unknown }).code) ? [] : null));
    running -= 1;
    if (primaryAddress(host) !== address) {
      unanswered.delete(host);
      want(host);
      return next();
    }
    if (names === null && noteUnanswered(host)) return next();
    unanswered.delete(host);
    take(host, address, names ?? []);
    next();
  };
  const take = (host: Nameable, address: string, names: readonly string[]) => {
    const name = names.map(cleanName).find((text) => text !== null) ?? null;
    host.reverseFailures = name === null ? host.reverseFailures + 1 : 0;
    const pause = name === null ? Math.min(RETRY_FIRST_MS * 2 ** (host.reverseFailures - 1), RETRY_LONGEST_MS) : REFRESH_MS;
    // Spread, so that hosts found by one sweep do not ask in one moment for ever.
    host.reverseDueAt = clock.monotonic() + pause * (0.9 + 0.2 * deps.random());
    if (name !== null) deps.onName(address, name);
  };
  const next = () => {
    for (const host of waiting) {
      if (running >= MAX_AT_ONCE) return;
      waiting.delete(host);
      const address = primaryAddress(host);
      if (address === null) unanswered.delete(host);
      else void lookUp(host, address);
    }
  };
  const want = (host: Nameable): boolean => {
    const address = primaryAddress(host);
    const isDue = clock.monotonic() >= host.reverseDueAt || askedFor.get(host) !== address;
    if (address === null || !isDue) return true;
    if (waiting.size >= MAX_WAITING) return false;
    askedFor.set(host, address);
    // Not again while it waits or is asked.
    host.reverseDueAt = clock.monotonic() + RETRY_FIRST_MS;
    waiting.add(host);
    next();
    return true;
  };
  return {
    want,
    retry(now) {
      for (const [host, { dueAt }] of unanswered) {
        if (now < dueAt || waiting.has(host)) continue;
        // Not due again before this try is over.
        unanswered.set(host, { tries: unanswered.get(host)?.tries ?? 1, dueAt: Number.POSITIVE_INFINITY });
        waiting.add(host);
      }
      next();
    },
  };
}

/** The address by which a host would have a name: none where it has shown but link-local ones, which no server names. */
function primaryAddress(host: Nameable): string | null {
  if (!("bindings" in host)) return host.address;
  const first = sortedBindings(host)[0];
  return first && !isLinkLocalIp(first.bytes) ? first.address : null;
}

/** Asks given servers for names. */
export interface ReverseResolver {
  /** @returns The names of an address, none where the servers know none. @throws What `node:dns` throws when no server answers. */
  reverseNames(address: string): Promise<readonly string[]>;
  /** Ends the queries in flight; they fail. */
  close(): void;
}

/** A name that comes later than its host's announcement is published as a change, so a long wait has no use. */
const SERVER_TIMEOUT_MS = 1000;
const SERVER_TRIES = 2;

/**
 * A resolver of its own: it reads neither /etc/hosts nor /etc/resolv.conf, which speak of this machine.
 * @param servers Addresses, with a port as `127.0.0.1:5353` or `[::1]:5353` where it is not 53. Leave excluded addresses out.
 * @returns Null when there is no server.
 * @throws TypeError for text that is no server.
 */
export function createReverseResolver(servers: readonly string[]): ReverseResolver | null {
  if (servers.length === 0) return null;
  const resolver = new Resolver({ timeout: SERVER_TIMEOUT_MS, tries: SERVER_TRIES });
  resolver.setServers(servers);
  return {
    async reverseNames(address) {
      return parseIp(address) ? await resolver.resolvePtr(reverseName(address)) : [];
    },
    close() {
      resolver.cancel();
    },
  };
}
