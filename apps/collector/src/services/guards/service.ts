import type { GuardsPart, SiteGuards, SiteGuardsUpdate } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { plainNetworks } from "../../db/keys/plain-networks.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { notFound, requireSite } from "../../gateway/errors.ts";
import { readSettings, type Settings, toPart, toProbeGuards } from "./records.ts";
import type { GuardsStore } from "./store.ts";

/** What the guards of a site's probes go by, and how they are. */
export interface GuardsService {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  read(tenantId: string, siteId: string): Promise<SiteGuards>;
  /** The change is sent to the site's probes when it is committed. @throws ApiError NOT_FOUND. */
  update(actor: Actor, siteId: string, change: SiteGuardsUpdate): Promise<SiteGuards>;
  /** What is sent to the site's probes; undefined where nothing is set. */
  partFor(siteId: string): Promise<GuardsPart | undefined>;
}

/** What changes of the guards need. */
export interface GuardsDependencies {
  readonly store: GuardsStore;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  /** Called after a change was committed; nobody waits for it, so it must not reject. */
  readonly onConfigured: (siteId: string) => Promise<void>;
}

/** Settings of the guards, site by site. Each change writes its audit record in the same transaction. */
export function createGuardsService({ store, audit, clock, onConfigured }: GuardsDependencies): GuardsService {
  const now = () => toInstant(clock.now());

  const show = async (siteId: string, settings: Settings): Promise<SiteGuards> => ({
    site_id: siteId, ...settings, exceptions: await store.countExceptions(null, siteId, now()),
    probes: (await store.probes(siteId)).map((probe) => toProbeGuards(probe, now())),
  });

  return {
    async read(tenantId, siteId) {
      await requireSite(store, tenantId, siteId);
      return show(siteId, readSettings(await store.settings(null, siteId)));
    },

    async update(actor, siteId, change) {
      const after = await store.transaction(async (trx) => {
        if (!(await store.reviseSite(trx, actor.tenantId, siteId))) throw notFound("site");
        const before = readSettings(await store.settings(trx, siteId));
        const changed = withChange(before, change);
        await store.putSettings(trx, actor.tenantId, siteId, JSON.stringify(changed));
        await audit(trx, { actor, action: "guards.update", target: { type: "guards", id: siteId }, before, after: changed });
        return changed;
      });
      void onConfigured(siteId);
      return show(siteId, after);
    },

    async partFor(siteId) {
      const settings = await store.settings(null, siteId);
      const exceptions = await store.exceptions(siteId, now());
      return settings === null && exceptions.length === 0 ? undefined : toPart(readSettings(settings), exceptions);
    },
  };
}

function withChange(settings: Settings, change: SiteGuardsUpdate): Settings {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const { dhcp_servers: dhcpServers, routers, ...rest } = { ...settings, ...given };
  return { ...rest, dhcp_servers: plainNetworks(dhcpServers), routers: plainNetworks(routers) };
}
