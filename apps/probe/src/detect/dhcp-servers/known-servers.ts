import * as z from "zod";
import type { GuardDeps, LearnedRow } from "../guard.ts";
import { createLearnedRows, type LearnedRows } from "../learned/learned-rows.ts";
import { Handout } from "./handout.ts";

const Stored = z.object({
  server: z.string().max(64), vlanId: z.int().nullable(), giaddr: z.string().max(64), macs: z.array(z.string().max(17)).max(16),
  handout: Handout.nullable(), isBootOnly: z.boolean(), confirmed: z.int(), answersUs: z.boolean(),
});
type Stored = z.infer<typeof Stored>;

/** A server that is known in one VLAN, directly or through one relay. */
export interface KnownServer extends Stored {
  /** Monotonic milliseconds when one of its MACs was heard last, or when this run began. */
  heardAt: number;
  /** Another MAC that has spoken in its name; null for none. */
  stranger: Stranger | null;
  /** Gateways that it has begun to hand out: since when without the known ones, when last, and how often. */
  change: { readonly gateways: readonly string[]; readonly firstAt: number; readonly lastAt: number; readonly count: number } | null;
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
export interface KnownServers extends Pick<LearnedRows<Stored, KnownServer>, "all" | "learn" | "save"> {
  find(server: string, vlanId: number | null, giaddr: string): KnownServer | null;
  /** Forgets a server in all its places. */
  forget(server: string): void;
  learned(): readonly LearnedRow[];
}

/** Servers times VLANs times relays of a large site. */
const MAX_SERVERS = 256;

const keyOf = ({ server, vlanId, giaddr }: Pick<Stored, "server" | "vlanId" | "giaddr">) => `${server} ${vlanId ?? ""} ${giaddr}`;

/** @param deps.guard The guard's name, for the rows that people read. */
export function createKnownServers({ learned: store, clock, guard }: Pick<GuardDeps, "learned" | "clock"> & { readonly guard: string }): KnownServers {
  const rows = createLearnedRows<Stored, KnownServer>({
    store, scope: "dhcp_servers", schema: Stored, keyOf, max: MAX_SERVERS, revive: (stored) => ({ ...stored, heardAt: clock.monotonic(), stranger: null, change: null }),
  });
  return {
    ...rows,
    find: (server, vlanId, giaddr) => rows.find(keyOf({ server, vlanId, giaddr })),
    forget: (server) => rows.forget((row) => row.server === server),
    learned: () => rows.all().map(({ server, vlanId, giaddr, macs, handout, isBootOnly }) => ({
      guard, what: isBootOnly ? "pxe_server" : "dhcp_server", name: server, macs, vlanId,
      facts: { relay: giaddr, gateway: handout?.gateways.join(" ") ?? "", dns: handout?.dns.join(" ") ?? "" },
    })),
  };
}
