import type { LearnedStore } from "../learned/learned-store.ts";
import type { KnownTunnels } from "./double-tags.ts";

/** Switch ports that speak DTP or VTP here, and outer VLANs of tunnels. */
export interface KnownTrunks {
  readonly tunnels: KnownTunnels;
  isPort(mac: string): boolean;
  hasPorts(): boolean;
  /** @returns A port that was heard within the time, or null. Those of an earlier run count as heard at the start. */
  alive(now: number, withinMs: number): string | null;
  /** Whether a known port's MAC begins like this one. */
  isOfMaker(mac: string): boolean;
  learn(mac: string, now: number): void;
  touch(mac: string, now: number): void;
}

const SCOPE = "vlan_hopping";
/** A mirror port shows those of many ports. */
const MAX_PORTS = 64;
const MAKER_LETTERS = 8;

/** @param now Monotonic milliseconds of the start. Keeps 64 ports and every outer VLAN. */
export function createKnownTrunks(learned: LearnedStore, now: number): KnownTrunks {
  const ports = new Map<string, number>();
  const tunnels = new Set<number>();
  for (const [key] of learned.load(SCOPE)) {
    const [what, name = ""] = key.split(" ");
    if (what === "port") ports.set(name, now);
    else if (what === "tunnel") tunnels.add(Number(name));
  }
  return {
    tunnels: {
      has: (vlanId) => tunnels.has(vlanId),
      learn(vlanId) {
        tunnels.add(vlanId);
        learned.put(SCOPE, `tunnel ${vlanId}`, true);
      },
    },
    isPort: (mac) => ports.has(mac),
    hasPorts: () => ports.size > 0,
    alive(at, withinMs) {
      for (const [mac, heardAt] of ports) if (at - heardAt < withinMs) return mac;
      return null;
    },
    isOfMaker: (mac) => [...ports.keys()].some((port) => port.slice(0, MAKER_LETTERS) === mac.slice(0, MAKER_LETTERS)),
    learn(mac, at) {
      if (ports.size >= MAX_PORTS) return;
      ports.set(mac, at);
      learned.put(SCOPE, `port ${mac}`, true);
    },
    touch: (mac, at) => void ports.set(mac, at),
  };
}
