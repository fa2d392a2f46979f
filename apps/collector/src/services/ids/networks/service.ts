import type { IdsSiteNetworks, IdsSiteNetworksUpdate } from "@lanthorn/contract";
import { parseNetwork } from "../../../db/keys/address-range.ts";
import { plainNetworks } from "../../../db/keys/plain-networks.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { requireSite } from "../../../gateway/errors.ts";
import { badRequest } from "../../../gateway/route.ts";
import type { NoiseStore } from "../noise/store.ts";
import { isFitting, plannedNetworks, variablesOf } from "./home-net.ts";
import type { NetworksStore } from "./store.ts";

/** Which networks rules take for a site's own. All throw ApiError NOT_FOUND for a site that the tenant does not have. */
export interface NetworksService {
  read(tenantId: string, siteId: string): Promise<IdsSiteNetworks>;
  /** @throws ApiError BAD_REQUEST for networks that are too many for a variable of rules. */
  update(actor: Actor, siteId: string, change: IdsSiteNetworksUpdate): Promise<IdsSiteNetworks>;
  /** Variables of rules that differ from the engine's own and the probes'. */
  variablesOf(tenantId: string, siteId: string): Promise<Readonly<Record<string, string>>>;
}

/** @param deps.onChanged After what counts has changed. */
export function createNetworksService({ store, noise, audit, onChanged }: {
  readonly store: NetworksStore; readonly noise: Pick<NoiseStore, "siteExists" | "locked">; readonly audit: Audit; readonly onChanged: () => void;
}): NetworksService {
  const find = async (tenantId: string, siteId: string): Promise<IdsSiteNetworks> => {
    const named = await store.named(null, siteId);
    const networks = named ?? plannedNetworks(await store.planned(tenantId, siteId));
    return { site_id: siteId, home_networks: named && [...named], source: named ? "named" : networks.length > 0 ? "plan" : "probes", networks: [...networks] };
  };
  return {
    async read(tenantId, siteId) {
      await requireSite(noise, tenantId, siteId);
      return find(tenantId, siteId);
    },
    async update(actor, siteId, { home_networks: given }) {
      await requireSite(noise, actor.tenantId, siteId);
      const wrong = given?.findIndex((network) => parseNetwork(network) === null) ?? -1;
      if (wrong >= 0) throw badRequest([{ path: ["home_networks", wrong], message: "must be an address or a network" }]);
      const named = given && plainNetworks(given);
      if (named && !isFitting(named)) throw badRequest([{ path: ["home_networks"], message: "are too many: join them into larger networks" }]);
      await noise.locked(actor.tenantId, async (trx) => {
        const before = await store.named(trx, siteId);
        await store.put(trx, actor.tenantId, siteId, named);
        await audit(trx, { actor, action: "ids_networks.update", target: { type: "site", id: siteId }, before: { home_networks: before }, after: { home_networks: named } });
      });
      onChanged();
      return find(actor.tenantId, siteId);
    },
    variablesOf: async (tenantId, siteId) => variablesOf((await find(tenantId, siteId)).networks),
  };
}
