/** What a site's resolvers have: lists with their text, and what operators decided. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { DnsBundlePolicy } from "@lanthorn/contract";
import type { ListFormat } from "@lanthorn/dns";
import type { ListRow, ListsStore, VersionRow } from "../lists/store.ts";
import type { SiteList } from "../names/tasks.ts";
import { composeSitePolicy, HAND_LIST, handListText, type TenantDecisions } from "../policies/site-policy.ts";
import type { PoliciesStore } from "../policies/store.ts";
import type { QuerySettingsStore } from "../queries/settings-store.ts";

/** What a tenant has, read once for all its sites. */
export interface TenantDns extends TenantDecisions {
  readonly tenantId: string;
  readonly lists: readonly { readonly row: ListRow; readonly version: VersionRow }[];
}

/** A site's part of it. */
export interface SiteDns {
  readonly policy: DnsBundlePolicy;
  /** Response policy zones keep the order in which they were made. */
  readonly lists: TenantDns["lists"];
  /** Of rules by hand; empty for none. */
  readonly handList: string;
  /** Of the text of all lists: the same text has the same names. */
  readonly namesKey: string;
}

/** Reads what a tenant has; lists that are off, or have no version that counts, are left out. */
export async function readTenantDns(
  { lists, policies, querySettings }: { readonly lists: ListsStore; readonly policies: PoliciesStore; readonly querySettings: Pick<QuerySettingsStore, "all"> }, tenantId: string, now: string,
): Promise<TenantDns> {
  const rows = (await lists.all(null, tenantId)).filter((row) => row.is_enabled === 1 && row.active_version !== null);
  const versions = await Promise.all(rows.map(async (row) => (await lists.versions(null, row.id)).find(({ version }) => version === row.active_version)));
  return {
    tenantId,
    lists: rows.flatMap((row, index) => {
      const version = versions[index];
      return version ? [{ row, version }] : [];
    }),
    policies: await policies.policies(null, tenantId), decisions: await policies.decisions(null, tenantId, now), querySettings: await querySettings.all(tenantId),
  };
}

/** What one site has of it. */
export async function siteDnsOf(tenant: TenantDns, siteId: string, policies: PoliciesStore): Promise<SiteDns> {
  const lists = tenant.lists.filter(({ row }) => row.site_id === null || row.site_id === siteId);
  const handList = handListText(tenant.decisions, siteId);
  const facts = lists.map(({ row, version }) => [row.id, row.name, row.category, row.origin, row.may_rewrite, version.format, version.digest, version.version]);
  return {
    policy: await composeSitePolicy(tenant, { tenantId: tenant.tenantId, siteId, lists: lists.map(({ row }) => row) }, policies), lists, handList,
    namesKey: createHash("sha256").update(JSON.stringify([facts, handList])).digest("hex"),
  };
}

/** The lists with their text. @throws Error where one was removed meanwhile. */
export async function loadSiteLists({ lists, handList }: SiteDns, store: Pick<ListsStore, "parts">): Promise<readonly SiteList[]> {
  const loaded: SiteList[] = handList === "" ? [] : [{ ...HAND_LIST, kind: "filter", format: "adblock", origin: null, mayRewrite: false, parts: [gzipSync(handList)] }];
  for (const { row, version } of lists) {
    const parts = await store.parts(version);
    if (parts === null) throw new Error(`version ${version.version} of the list ${row.name} is not whole`);
    loaded.push({
      id: row.id, name: row.name, category: row.category, kind: version.format === "rpz" ? "rpz" : "filter", format: version.format as ListFormat, origin: row.origin, mayRewrite: row.may_rewrite === 1, parts,
    });
  }
  return loaded;
}
