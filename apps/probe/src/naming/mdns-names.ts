import { parseIp } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { type Host, sortedBindings } from "../hosts/host.ts";
import type { Link } from "../capture/link.ts";
import { encodeMdnsQuery } from "../egress/request-frames.ts";

/** Asks hosts without a name for the one that they answer to by Multicast DNS: they announce it once, perhaps before we were there. */
export interface MdnsNames {
  /** Lets the host be asked, unless it was lately or has a name. */
  want(host: Host): void;
  isDue(now: number): boolean;
  /** Queries that are due, as frames. */
  packets(link: Link, now: number): Generator<Uint8Array>;
}

/** A name by DHCP or reverse DNS usually comes sooner. The second query is for answers that were lost. */
const ASK_AFTER_MS = [500, 3000] as const;
/** Many devices have none; those that get one announce it by themselves. */
const AGAIN_MS = 3_600_000;
const MAX_WAITING = 1024;

/** At most 1024 hosts wait; each is asked twice, and again an hour later at the earliest. */
export function createMdnsNames(deps: { readonly clock: Clock }): MdnsNames {
  const waiting = new Map<Host, { readonly since: number; asked: number }>();
  const notBefore = new WeakMap<Host, number>();
  const isDueFor = (wish: { readonly since: number; readonly asked: number }, now: number) =>
    now - wish.since >= (ASK_AFTER_MS[wish.asked] ?? Number.POSITIVE_INFINITY);
  return {
    want(host) {
      const now = deps.clock.monotonic();
      if (hasName(host) || waiting.has(host) || waiting.size >= MAX_WAITING || now < (notBefore.get(host) ?? 0)) return;
      waiting.set(host, { since: now, asked: 0 });
    },
    isDue(now) {
      for (const wish of waiting.values()) if (isDueFor(wish, now)) return true;
      return false;
    },
    *packets(link, now) {
      for (const [host, wish] of waiting) {
        if (!isDueFor(wish, now)) continue;
        wish.asked += 1;
        const address = sortedBindings(host)[0]?.address;
        const target = address === undefined || hasName(host) ? null : parseIp(address);
        if (target === null || wish.asked >= ASK_AFTER_MS.length) {
          waiting.delete(host);
          notBefore.set(host, now + AGAIN_MS);
        }
        const frame = target && encodeMdnsQuery(link, target);
        if (frame) yield frame;
      }
    },
  };
}

function hasName(host: Host): boolean {
  return Object.keys(host.names).length > 0;
}
