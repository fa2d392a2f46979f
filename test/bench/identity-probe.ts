import type { ProbeEvent } from "@lanthorn/contract";
import type { Presence } from "./identity-world.ts";

interface Host {
  readonly mac: string;
  addresses: readonly string[];
  hostname: string;
  keys: Readonly<Record<string, string>>;
  online: boolean;
}

/** What a probe says of a network hour by hour: it knows hosts by their MACs, and tells what is new, changed or gone. */
export interface SimulatedProbe {
  watch(present: readonly Presence[], at: string): readonly ProbeEvent[];
}

/** @param random Draws the addresses that the DHCP server gives: another one whenever a host was away for the length of a lease. */
export function createSimulatedProbe(random: (below: number) => number): SimulatedProbe {
  const hosts = new Map<string, Host>();
  const leases = new Map<string, { readonly ip: string; until: string }>();

  const leaseOf = (mac: string, at: string): string => {
    const lease = leases.get(mac);
    const until = new Date(Date.parse(at) + LEASE_MS).toISOString();
    if (lease && lease.until > at) {
      lease.until = until;
      return lease.ip;
    }
    const taken = new Set([...leases.values()].filter((one) => one.until > at).map(({ ip }) => ip));
    let ip: string;
    do ip = `10.0.0.${1 + random(254)}`; while (taken.has(ip));
    leases.set(mac, { ip, until });
    return ip;
  };

  return {
    watch(present, at) {
      const seen = new Map<string, { readonly addresses: string[]; readonly one: Presence }>();
      for (const one of present) {
        const entry = seen.get(one.mac) ?? { addresses: [], one };
        entry.addresses.push(one.ip ?? leaseOf(one.mac, at));
        seen.set(one.mac, entry);
      }
      const changes = [...seen].flatMap(([mac, { addresses, one }]): readonly ProbeEvent[] => {
        const known = hosts.get(mac);
        const host: Host = { mac, addresses, hostname: one.hostname, keys: one.keys, online: true };
        hosts.set(mac, host);
        if (!known) return [{ type: "host_found", occurred_at: at, data: stateOf(host, at) }];
        const isMoved = known.addresses.join() !== addresses.join();
        const changed = [
          ...(isMoved ? ["addresses" as const, ...(known.addresses[0] === addresses[0] ? [] : ["ip" as const])] : []),
          ...(known.hostname === host.hostname ? [] : ["hostname" as const]),
          ...(JSON.stringify(known.keys) === JSON.stringify(host.keys) ? [] : ["evidence" as const]),
        ];
        if (changed.length > 0) return [{ type: "host_changed", occurred_at: at, data: { ...stateOf(host, at), changed } }];
        return known.online ? [] : [{ type: "host_online", occurred_at: at, data: { ip: addresses[0] ?? "", mac, last_seen_at: at } }];
      });
      const gone = [...hosts.values()].filter(({ mac, online }) => online && !seen.has(mac)).map((host): ProbeEvent => {
        host.online = false;
        return {
          type: "host_offline", occurred_at: at, data: { ip: host.addresses[0] ?? "", mac: host.mac, last_seen_at: at, missed_checks: 3 },
        };
      });
      return [...gone, ...changes];
    },
  };
}

const LEASE_MS = 8 * 3_600_000;

function stateOf({ mac, addresses, hostname, keys }: Host, at: string) {
  const evidence = (field: string, value: string, source: string, confidence: number) =>
    (value === "" ? [] : [{ field, value, source, confidence, seen_at: at }]);
  const ip = addresses[0] ?? "";
  return {
    ip, mac, hostname, vendor: "", addresses: [...addresses],
    evidence: [
      ...evidence("ip", ip, "arp", 0.9), ...evidence("hostname", hostname, "dhcp", 0.8),
      ...Object.entries(keys).flatMap(([field, value]) => evidence(field, value, "dhcp", 0.9)),
    ],
  };
}
