import type { DnsQuerySettings, DnsQuerySettingsUpdate, List } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { requireSite } from "../../../gateway/errors.ts";
import { type IdPage, pageOfAll } from "../../../gateway/page.ts";
import type { QuerySettingsRow, QuerySettingsStore } from "./settings-store.ts";

/**
 * How much of what a site's clients ask its resolvers report, and how long that is kept. The level reaches probes in the site's bundle; of the resolver's own
 * file and this, the stricter one holds, and what a probe reports beyond the level is not kept. All throw ApiError NOT_FOUND for a site that the tenant does not have.
 */
export interface QuerySettingsService {
  /** Of all sites. */
  list(tenantId: string, page: IdPage): Promise<List<DnsQuerySettings>>;
  read(tenantId: string, siteId: string): Promise<DnsQuerySettings>;
  update(actor: Actor, siteId: string, change: DnsQuerySettingsUpdate): Promise<DnsQuerySettings>;
}

/** @param deps.onChanged After what counts has changed. */
export function createQuerySettingsService({ store, audit, clock, onChanged }: {
  readonly store: QuerySettingsStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">; readonly onChanged: () => void;
}): QuerySettingsService {
  return {
    async list(tenantId, page) {
      const decided = new Map((await store.all(tenantId)).map((row) => [row.site_id, row]));
      return pageOfAll((await store.sites(tenantId)).map((siteId) => toSettings(siteId, decided.get(siteId) ?? null)), page, ({ site_id: id }) => id);
    },

    async read(tenantId, siteId) {
      await requireSite(store, tenantId, siteId);
      return toSettings(siteId, await store.bySite(null, siteId));
    },

    async update(actor, siteId, change) {
      await requireSite(store, actor.tenantId, siteId);
      const after = await store.locked(actor.tenantId, async (trx) => {
        const before = await store.bySite(trx, siteId);
        const { level = before?.level ?? null, keep_days: keepDays = before?.keep_days ?? null } = change;
        const row: QuerySettingsRow = { site_id: siteId, tenant_id: actor.tenantId, level, keep_days: keepDays, changed_by: actor.name, changed_at: toInstant(clock.now()) };
        await store.put(trx, row);
        await audit(trx, { actor, action: "dns_query_settings.update", target: { type: "site", id: siteId }, before: toSettings(siteId, before), after: toSettings(siteId, row) });
        return row;
      });
      onChanged();
      return toSettings(siteId, after);
    },
  };
}

function toSettings(siteId: string, row: QuerySettingsRow | null): DnsQuerySettings {
  return { site_id: siteId, level: row?.level ?? null, keep_days: row?.keep_days ?? null, changed_by: row?.changed_by ?? null, changed_at: row?.changed_at ?? null };
}
