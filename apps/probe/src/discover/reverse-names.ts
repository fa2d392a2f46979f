import { Resolver } from "node:dns/promises";
import { parseIp, reverseName } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { type Host, sortedBindings } from "../hosts/host.ts";
import { cleanName } from "../hosts/names.ts";

/** Looks up what the site's DNS servers call the hosts' addresses, a few at a time, again and again at long intervals. */
export interface ReverseNames {
  /** Looks the host's primary address up if that is due. */
  want(host: Host): void;
}

/** Small site routers answer a few queries at once and drop the rest. */
const MOST_AT_ONCE = 8;
/** More hosts than that wait for their next turn. */
const MOST_WAITING = 1024;
/** Names come with leases; most servers have them within minutes, many have none ever. */
const REFRESH_MS = 3_600_000;
const RETRY_FIRST_MS = 600_000;
const RETRY_LONGEST_MS = 21_600_000;

export function createReverseNames(deps: {
  readonly lookUp: (address: string) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onName: (host: Host, address: string, name: string) => void;
}): ReverseNames {
  const { clock } = deps;
  const waiting = new Set<Host>();
  let running = 0;

  const lookUp = async (host: Host, address: string) => {
    running += 1;
    const names = await deps.lookUp(address).catch(() => []);
    running -= 1;
    const name = names.map(cleanName).find((text) => text !== null) ?? null;
    host.reverseFailures = name === null ? host.reverseFailures + 1 : 0;
    const pause = name === null ? Math.min(RETRY_FIRST_MS * 2 ** (host.reverseFailures - 1), RETRY_LONGEST_MS) : REFRESH_MS;
    // Spread, so that hosts found by one sweep do not ask in one moment for ever.
    host.reverseDueAt = clock.monotonic() + pause * (0.9 + 0.2 * deps.random());
    if (name !== null && sortedBindings(host)[0]?.address === address) deps.onName(host, address, name);
    next();
  };
  const next = () => {
    for (const host of waiting) {
      if (running >= MOST_AT_ONCE) return;
      waiting.delete(host);
      const address = sortedBindings(host)[0]?.address;
      if (address !== undefined) void lookUp(host, address);
    }
  };
  return {
    want(host) {
      if (clock.monotonic() < host.reverseDueAt || waiting.size >= MOST_WAITING) return;
      // Not again while it waits or is asked.
      host.reverseDueAt = clock.monotonic() + RETRY_FIRST_MS;
      waiting.add(host);
      next();
    },
  };
}

/** Asks given servers for names. */
export interface ReverseResolver {
  /** @returns The names of an address, none where the servers know none. @throws What `node:dns` throws when no server answers. */
  reverseNames(address: string): Promise<readonly string[]>;
  /** Ends the questions under way; they fail. */
  close(): void;
}

/** A name that comes later than its host's announcement is told as a change; there is no use in waiting long. */
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
