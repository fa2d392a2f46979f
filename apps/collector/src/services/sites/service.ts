import type { List, ProbeConfiguration, Site } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { ApiError, notFound } from "../../gateway/errors.ts";
import type { SiteRow, SitesStore } from "./store.ts";

/** What a new site's probes are told, as the JSON text in its row: a sweep every five minutes at the probe's own default rate. */
export const DEFAULT_SITE_CONFIGURATION = JSON.stringify({
  sweep: { enabled: true, interval_seconds: 300, packets_per_second: 200 },
  excluded: [],
} satisfies Pick<ProbeConfiguration, "sweep" | "excluded">);

export interface SitesService {
  list(
    tenantId: string, page: { readonly page: number; readonly per_page: number; readonly cursor?: string | undefined },
  ): Promise<List<Site>>;
  read(tenantId: string, siteId: string): Promise<Site>;
  create(tenantId: string, site: { readonly name: string }): Promise<Site>;
}

export function createSitesService({ store, clock }: { readonly store: SitesStore; readonly clock: Pick<Clock, "now"> }): SitesService {
  return {
    async list(tenantId, { page, per_page: perPage, cursor }) {
      const rows = await store.list(tenantId, { from: cursor ?? (page - 1) * perPage, limit: perPage + 1 });
      const data = rows.slice(0, perPage);
      const nextCursor = rows.length > perPage ? (data.at(-1)?.id ?? null) : null;
      return { data: data.map(toSite), meta: { page, per_page: perPage, total: await store.count(tenantId), next_cursor: nextCursor } };
    },
    async read(tenantId, siteId) {
      const row = await store.byId(tenantId, siteId);
      if (!row) throw notFound("site");
      return toSite(row);
    },
    async create(tenantId, { name }) {
      const row = {
        id: createId(), tenant_id: tenantId, name, probe_configuration: DEFAULT_SITE_CONFIGURATION, created_at: toInstant(clock.now()),
      };
      if (!(await store.create(row))) throw new ApiError("CONFLICT", `there is a site called ${name} already`);
      return toSite(row);
    },
  };
}

function toSite({ id, name, created_at }: Pick<SiteRow, "id" | "name" | "created_at">): Site {
  return { id, name, created_at };
}
