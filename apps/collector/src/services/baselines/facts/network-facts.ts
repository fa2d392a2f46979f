import type { NetworkFactNow, NetworkKind, NetworkLook, NetworkNow } from "../compare/network.ts";
import { plain } from "./plain.ts";
import type { Rogues } from "./rogues.ts";

/** What the probes of a site report of its network, one by one: as the guards' `networkFactsOf` and `networkLooksOf` give it. */
export interface SiteNetworks {
  networkFactsOf(siteId: string): Promise<readonly {
    readonly what: string; readonly name: string; readonly macs: readonly string[]; readonly vlanId: number | null; readonly seenAt: string;
    readonly known: boolean;
  }[]>;
  networkLooksOf(siteId: string): Promise<readonly { readonly what: string; readonly since: string; readonly lookedAt: string }[]>;
}

/** What probes report, as kinds of facts. A PXE server hands out no addresses, and is none of the servers that hosts go by. */
const KINDS: Readonly<Record<string, NetworkKind>> = {
  dhcp_server: "dhcp_server", dhcpv6_server: "dhcp_server", router: "gateway", gateway: "gateway", dns_server: "dns_server",
};
const MAX_KEY = 255;

/** What all probes of a site see of its network: the same server at two probes is one. */
export async function readNetwork(networks: SiteNetworks, siteId: string, rogues: Rogues): Promise<NetworkNow> {
  const facts = new Map<string, NetworkFactNow>();
  for (const { what, name, macs, vlanId, seenAt, known } of await networks.networkFactsOf(siteId)) {
    const kind = KINDS[what];
    if (kind === undefined) continue;
    const key = plain(vlanId === null ? name : `${name} vlan ${vlanId}`, MAX_KEY);
    const before = facts.get(`${kind} ${key}`);
    facts.set(`${kind} ${key}`, {
      kind, key, macs: [...new Set([...(before?.macs ?? []), ...macs])], seenAt: before && before.seenAt > seenAt ? before.seenAt : seenAt,
      isKnown: (before?.isKnown ?? true) && known, isRogue: (before?.isRogue ?? false) || rogues.has(siteId, [name, ...macs]),
    });
  }
  const looks = (await networks.networkLooksOf(siteId)).flatMap(({ what, since, lookedAt }): readonly NetworkLook[] => {
    const kind = KINDS[what];
    return kind === undefined ? [] : [{ kind, since, lookedAt }];
  });
  return { facts: [...facts.values()], looks };
}
