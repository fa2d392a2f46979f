import { macKey } from "../hosts/host.ts";
import type { HostTarget } from "./question-frames.ts";

/** Tells hosts from a router that answers ARP for networks behind it, or for every address that is asked for. */
export interface Crowd {
  /** A host that answered. It is passed on at once, or held back while its MAC may be such a router's. */
  add(host: HostTarget): void;
  /** All have answered: passes on who was held back, and says which MACs are routers'. */
  settle(): void;
}

/** Addresses of a MAC that are believed without waiting: a web server has some, a hypervisor's bridge too. */
const BELIEVED = 16;
/** No host has more; a router with proxy ARP answers for the whole subnet. */
const MOST_ADDRESSES = 512;

/** @param deps.take Told each host that is one. */
export function createCrowd(deps: {
  readonly take: (host: HostTarget) => void;
  readonly onProxy: (mac: Uint8Array, addresses: number) => void;
}): Crowd {
  const addresses = new Map<number, number>();
  const held = new Map<number, HostTarget[]>();
  const told = new Set<number>();
  return {
    add(host) {
      const key = macKey(host.mac);
      const count = (addresses.get(key) ?? 0) + 1;
      addresses.set(key, count);
      if (count <= BELIEVED) return deps.take(host);
      const others = held.get(key);
      if (!others) held.set(key, [host]);
      else if (others.length < MOST_ADDRESSES) others.push(host);
    },
    settle() {
      for (const [key, hosts] of held) {
        const count = addresses.get(key) ?? 0;
        const [first] = hosts;
        if (count <= MOST_ADDRESSES) for (const host of hosts) deps.take(host);
        else if (first && !told.has(key)) {
          told.add(key);
          deps.onProxy(first.mac, count);
        }
      }
      held.clear();
    },
  };
}
