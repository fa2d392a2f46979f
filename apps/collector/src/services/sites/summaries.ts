import type { List, SitesQuery, SiteSummary } from "@lanthorn/contract";
import { groupBy } from "../../db/query/group-by.ts";
import { notFound } from "../../gateway/errors.ts";
import { pageById } from "../../gateway/page.ts";
import type { SitesStore } from "./store.ts";

/** What is at a tenant's sites, in numbers that are those of the lists. */
export interface SiteSummaries {
  summaries(tenantId: string, query: SitesQuery): Promise<List<SiteSummary>>;
  /** @throws ApiError NOT_FOUND. */
  summary(tenantId: string, siteId: string): Promise<SiteSummary>;
}

/** Counts at the sites of a page in three queries for each 512 of them. */
export function siteSummaries(store: Pick<SitesStore, "list" | "count" | "byId" | "counts">): SiteSummaries {
  const summarize = async (tenantId: string, sites: readonly { readonly id: string; readonly name: string }[]): Promise<SiteSummary[]> => {
    const counts = groupBy(await store.counts(tenantId, sites.map(({ id }) => id)), ({ site_id: site }) => site);
    return sites.map(({ id, name }) => {
      const own = counts.get(id) ?? [];
      const count = (kind: string, value?: string) => own.reduce((sum, each) =>
        sum + (each.kind === kind && (value === undefined || each.value === value) ? each.total : 0), 0);
      return {
        site_id: id, name, devices: { total: count("devices"), online: count("devices", "1") },
        alerts: {
          critical: count("alerts", "critical"), high: count("alerts", "high"), medium: count("alerts", "medium"), low: count("alerts", "low"),
          info: count("alerts", "info"),
        },
        probes: { total: count("probes"), online: count("probes", "online"), silent: count("probes", "silent") },
      };
    });
  };
  return {
    async summaries(tenantId, { search, ...page }) {
      const filter = { tenantId, search };
      const sites = await pageById(page, { read: (rows) => store.list(filter, rows), count: () => store.count(filter), show: (row) => row });
      return { ...sites, data: await summarize(tenantId, sites.data) };
    },
    async summary(tenantId, siteId) {
      const site = await store.byId(tenantId, siteId);
      const [summary] = site ? await summarize(tenantId, [site]) : [];
      if (!summary) throw notFound("site");
      return summary;
    },
  };
}
