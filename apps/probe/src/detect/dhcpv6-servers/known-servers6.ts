import * as z from "zod";
import type { GuardDeps, LearnedRow } from "../guard.ts";
import { createLearnedRows, type LearnedRows } from "../learned/learned-rows.ts";
import type { ServerMessage6 } from "./server-message6.ts";

const Texts = z.array(z.string().max(64)).max(16);
const Stored = z.object({
  duid: z.string().max(260), vlanId: z.int().nullable(), relayLink: z.string().max(64), addresses: Texts, macs: z.array(z.string().max(17)).max(16), dns: Texts, networks: Texts,
});
type Stored = z.infer<typeof Stored>;

/** A DHCPv6 server that is known in one VLAN, directly or for one relay's link. */
export interface KnownServer6 extends Stored {
  /** Monotonic milliseconds when one of its MACs was heard last, or when this run began. */
  heardAt: number;
}

/** DHCPv6 servers that are taken for normal; kept over restarts. */
export interface KnownServers6 extends Pick<LearnedRows<Stored, KnownServer6>, "all" | "save"> {
  find(said: ServerMessage6): KnownServer6 | null;
  learn(said: ServerMessage6): void;
  /** Forgets a server in all its places. */
  forget(duid: string): void;
  learned(): readonly LearnedRow[];
}

const MAX_SERVERS = 128;

const keyOf = ({ duid, vlanId, relayLink }: Pick<Stored, "duid" | "vlanId" | "relayLink">) => `${duid} ${vlanId ?? ""} ${relayLink}`;

/** @param deps.guard The guard's name, for the rows that people read. */
export function createKnownServers6({ learned: store, clock, guard }: Pick<GuardDeps, "learned" | "clock"> & { readonly guard: string }): KnownServers6 {
  const rows = createLearnedRows<Stored, KnownServer6>({
    store, scope: "dhcpv6_servers", schema: Stored, keyOf, max: MAX_SERVERS, revive: (stored) => ({ ...stored, heardAt: clock.monotonic() }),
  });
  return {
    ...rows,
    find: (said) => rows.find(keyOf(said)),
    learn: ({ duid, vlanId, relayLink, address, mac, dns, networks }) =>
      void rows.learn({ duid, vlanId, relayLink, addresses: [address], macs: [mac], dns: [...dns], networks: [...networks] }),
    forget: (duid) => rows.forget((row) => row.duid === duid),
    learned: () => rows.all().map(({ duid, addresses, macs, vlanId, dns, networks, relayLink }) => ({
      guard, what: "dhcpv6_server", name: duid, macs, vlanId, facts: { addresses: addresses.join(" "), dns: dns.join(" "), networks: networks.join(" "), relay: relayLink },
    })),
  };
}
