import * as z from "zod";
import type { GuardDeps, LearnedRow } from "../guard.ts";
import { Handout } from "./handout.ts";

const Stored = z.strictObject({
  server: z.string().max(64), vlanId: z.int().nullable(), giaddr: z.string().max(64), macs: z.array(z.string().max(17)).max(16),
  handout: Handout.nullable(), isBootOnly: z.boolean(), confirmed: z.int(), answersUs: z.boolean(),
});

/** A server that is known in one VLAN, directly or through one relay. */
export interface KnownServer extends z.infer<typeof Stored> {
  /** Monotonic milliseconds when one of its MACs was heard last, or when this run began. */
  heardAt: number;
  /** Another MAC that has spoken in its name; null for none. */
  stranger: Stranger | null;
  /** Gateways that it has begun to hand out, since when and how often. */
  change: { readonly gateways: readonly string[]; readonly firstAt: number; count: number } | null;
}

/** Who has spoken in a server's name from another MAC. */
export interface Stranger {
  readonly mac: string;
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly packet: Uint8Array;
  /** It has refused a client; else it has given it what the server gives. */
  readonly isRefusal: boolean;
}

/** DHCP servers that are taken for normal; kept over restarts. */
export interface KnownServers {
  find(server: string, vlanId: number | null, giaddr: string): KnownServer | null;
  all(): readonly KnownServer[];
  /** @returns Null where the table is full. */
  learn(row: z.infer<typeof Stored>): KnownServer | null;
  /** Writes a row that has changed. */
  save(row: KnownServer): void;
  /** Forgets a server in all its places. */
  forget(server: string): void;
  learned(): readonly LearnedRow[];
}

const SCOPE = "dhcp_servers";
/** Servers times VLANs times relays of a large site. */
const MAX_SERVERS = 256;

/** @param deps.guard The guard's name, for the rows that people read. */
export function createKnownServers({ learned: store, clock, guard }: Pick<GuardDeps, "learned" | "clock"> & { readonly guard: string }): KnownServers {
  const rows = new Map<string, KnownServer>();
  const keyOf = ({ server, vlanId, giaddr }: Pick<KnownServer, "server" | "vlanId" | "giaddr">) => `${server} ${vlanId ?? ""} ${giaddr}`;
  for (const [key, value] of store.load(SCOPE)) {
    const read = Stored.safeParse(value);
    if (read.success && rows.size < MAX_SERVERS) rows.set(key, { ...read.data, heardAt: clock.monotonic(), stranger: null, change: null });
  }
  const save = (row: KnownServer) => void store.put(SCOPE, keyOf(row), Stored.strip().parse(row));
  return {
    find: (server, vlanId, giaddr) => rows.get(keyOf({ server, vlanId, giaddr })) ?? null,
    all: () => [...rows.values()],
    learn(learned) {
      if (rows.size >= MAX_SERVERS) return null;
      const row: KnownServer = { ...learned, heardAt: clock.monotonic(), stranger: null, change: null };
      rows.set(keyOf(row), row);
      save(row);
      return row;
    },
    save,
    forget(server) {
      for (const [key, row] of rows) {
        if (row.server !== server) continue;
        rows.delete(key);
        store.remove(SCOPE, key);
      }
    },
    learned: () => [...rows.values()].map(({ server, vlanId, giaddr, macs, handout, isBootOnly }) => ({
      guard, what: isBootOnly ? "pxe_server" : "dhcp_server", name: server, macs, vlanId,
      facts: { relay: giaddr, gateway: handout?.gateways.join(" ") ?? "", dns: handout?.dns.join(" ") ?? "" },
    })),
  };
}
