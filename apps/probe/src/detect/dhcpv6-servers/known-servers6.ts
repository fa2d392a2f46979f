import * as z from "zod";
import type { LearnedRow } from "../guard.ts";
import type { LearnedStore } from "../learned/learned-store.ts";
import type { ServerMessage6 } from "./server-message6.ts";

const Texts = z.array(z.string().max(64)).max(16);
const Stored = z.strictObject({
  duid: z.string().max(260), vlanId: z.int().nullable(), relayLink: z.string().max(64), addresses: Texts, macs: z.array(z.string().max(17)).max(16), dns: Texts, networks: Texts,
});

/** A DHCPv6 server that is known in one VLAN, directly or for one relay's link. */
export interface KnownServer6 extends z.infer<typeof Stored> {
  /** Monotonic milliseconds when one of its MACs was heard last; null in this run not yet. */
  heardAt: number | null;
}

/** DHCPv6 servers that are taken for normal; kept over restarts. */
export interface KnownServers6 {
  find(said: ServerMessage6): KnownServer6 | null;
  all(): readonly KnownServer6[];
  learn(said: ServerMessage6, now: number): void;
  /** Writes a row that has changed. */
  save(row: KnownServer6): void;
  /** Forgets a server in all its places. */
  forget(duid: string): void;
  learned(): readonly LearnedRow[];
}

const SCOPE = "dhcpv6_servers";
const MAX_SERVERS = 128;

/** @param guard The guard's name, for the rows that people read. */
export function createKnownServers6(store: LearnedStore, guard: string): KnownServers6 {
  const rows = new Map<string, KnownServer6>();
  const keyOf = ({ duid, vlanId, relayLink }: Pick<KnownServer6, "duid" | "vlanId" | "relayLink">) => `${duid} ${vlanId ?? ""} ${relayLink}`;
  for (const [key, value] of store.load(SCOPE)) {
    const read = Stored.safeParse(value);
    if (read.success && rows.size < MAX_SERVERS) rows.set(key, { ...read.data, heardAt: null });
  }
  const save = (row: KnownServer6) => void store.put(SCOPE, keyOf(row), Stored.strip().parse(row));
  return {
    find: (said) => rows.get(keyOf(said)) ?? null,
    all: () => [...rows.values()],
    learn({ duid, vlanId, relayLink, address, mac, dns, networks }, now) {
      if (rows.size >= MAX_SERVERS) return;
      const row = { duid, vlanId, relayLink, addresses: [address], macs: [mac], dns: [...dns], networks: [...networks], heardAt: now };
      rows.set(keyOf(row), row);
      save(row);
    },
    save,
    forget(duid) {
      for (const [key, row] of rows) {
        if (row.duid !== duid) continue;
        rows.delete(key);
        store.remove(SCOPE, key);
      }
    },
    learned: () => [...rows.values()].map(({ duid, addresses, macs, vlanId, dns, networks, relayLink }) => ({
      guard, what: "dhcpv6_server", name: duid, macs, vlanId, facts: { addresses: addresses.join(" "), dns: dns.join(" "), networks: networks.join(" "), relay: relayLink },
    })),
  };
}
