import { createBoundedMap } from "../../../bounded-map.ts";
import type { GuardDeps } from "../../guard.ts";
import { addressKey } from "../binding-table.ts";

/** Roles that somebody named, and that are believed when the sender was not accused for a while. */
export interface BelievedRoles {
  /** @param sign Who has named it; asked for only where it is new. */
  hear(addresses: readonly Uint8Array[], role: RoleSign["role"], sign: () => Omit<RoleSign, "role">): void;
  /** Those that may be believed now; each comes once. */
  take(now: number): readonly Pick<Heard, "key" | "role">[];
}

/** Who has named a role. */
export interface RoleSign {
  readonly role: "gateway" | "server";
  /** By what the sender would be accused: its address, and its MAC. */
  readonly senders: readonly string[];
  readonly kinds: readonly ("dhcp_server" | "router_advertisement" | "unexpected_ipv6")[];
}

interface Heard extends RoleSign {
  readonly key: string;
  readonly at: number;
}

const MAX_HEARD = 256;
/** Within this a false server or router is accused, and what it says is not learned. */
const BELIEVED_AFTER_MS = 5000;

/** At most 256 at once; the oldest give way. */
export function createBelievedRoles({ clock, incidents }: Pick<GuardDeps, "clock" | "incidents">): BelievedRoles {
  const heard = createBoundedMap<string, Heard>(MAX_HEARD);
  const isAccused = ({ kinds, senders }: Heard) =>
    kinds.some((kind) => incidents.hasMany(kind) || senders.some((sender) => incidents.isOpen(kind, sender)));
  return {
    hear(addresses, role, sign) {
      for (const address of addresses) {
        const key = addressKey(address);
        const id = `${role} ${key}`;
        if (!heard.has(id)) heard.put(id, { ...sign(), role, key, at: clock.monotonic() });
      }
    },
    take(now) {
      const taken: Heard[] = [];
      for (const [id, one] of heard) {
        if (now - one.at < BELIEVED_AFTER_MS) break;
        heard.delete(id);
        if (!isAccused(one)) taken.push(one);
      }
      return taken;
    },
  };
}
