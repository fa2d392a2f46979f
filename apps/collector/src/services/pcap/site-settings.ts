import { CaptureSettings, DEFAULT_CAPTURE_SETTINGS, type SiteCaptures, type SiteCapturesUpdate } from "@lanthorn/contract";
import { plainNetworks } from "../../db/keys/plain-networks.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { notFound, requireSite } from "../../gateway/errors.ts";
import type { PcapsStore } from "./store/pcaps-store.ts";
import type { SiteSettingsStore } from "./store/settings-store.ts";

/** What a site's probes record by themselves, and what who reads packets has to do. */
export interface SiteCaptureSettings {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  read(tenantId: string, siteId: string): Promise<SiteCaptures>;
  /** The change is sent to the site's probes when it is committed. @throws ApiError NOT_FOUND. */
  update(actor: Actor, siteId: string, change: SiteCapturesUpdate): Promise<SiteCaptures>;
  /** What is sent to the site's probes; undefined where nothing is set. */
  partFor(siteId: string): Promise<CaptureSettings | undefined>;
  /** The settings that count. */
  of(siteId: string): Promise<CaptureSettings>;
}

/** @param deps.onConfigured Called after a change was committed; nobody waits for it, so it must not reject. */
export function createSiteCaptureSettings(deps: {
  readonly store: SiteSettingsStore; readonly pcaps: Pick<PcapsStore, "siteExists" | "siteUsage">; readonly audit: Audit;
  readonly onConfigured: (siteId: string) => Promise<void>;
}): SiteCaptureSettings {
  const { store, pcaps } = deps;
  const show = async (siteId: string, settings: CaptureSettings): Promise<SiteCaptures> =>
    ({ site_id: siteId, ...settings, usage: await pcaps.siteUsage(null, siteId) });
  return {
    async read(tenantId, siteId) {
      await requireSite(pcaps, tenantId, siteId);
      return show(siteId, readSettings(await store.settings(null, siteId)));
    },
    async update(actor, siteId, change) {
      const after = await store.transaction(async (trx) => {
        if (!(await store.reviseSite(trx, actor.tenantId, siteId))) throw notFound("site");
        const before = readSettings(await store.settings(trx, siteId));
        const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
        const merged: CaptureSettings = { ...before, ...given };
        const changed = { ...merged, headers_only_networks: [...plainNetworks(merged.headers_only_networks)] };
        await store.putSettings(trx, actor.tenantId, siteId, JSON.stringify(changed));
        await deps.audit(trx, { actor, action: "pcap.configure", target: { type: "site", id: siteId }, before, after: changed });
        return changed;
      });
      void deps.onConfigured(siteId);
      return show(siteId, after);
    },
    async partFor(siteId) {
      const text = await store.settings(null, siteId);
      return text === null ? undefined : readSettings(text);
    },
    of: async (siteId) => readSettings(await store.settings(null, siteId)),
  };
}

function readSettings(text: string | null): CaptureSettings {
  return CaptureSettings.parse({ ...DEFAULT_CAPTURE_SETTINGS, ...(text === null ? {} : JSON.parse(text)) });
}
