import { createHash } from "node:crypto";
import { BUNDLE_KINDS, DNS_BUNDLE_FILES, DNS_BUNDLE_LISTS, type DnsBundleLists } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { ListsStore } from "../lists/store.ts";
import type { SiteList } from "../names/tasks.ts";
import type { PoliciesStore } from "../policies/store.ts";
import type { QuerySettingsStore } from "../queries/settings-store.ts";
import { loadSiteLists, readTenantDns, type SiteDns, siteDnsOf } from "./site-content.ts";
import type { SiteBundleRow, SiteBundlesStore } from "./store.ts";

/** Signs a version of a site's bundle and puts it in the place of the one before. @returns False where one as high is there. */
export type PublishBundle = (bundle: { readonly siteId: string; readonly name: "dns"; readonly version: number; readonly files: ReadonlyMap<string, Buffer> }) => Promise<boolean>;

/** What site bundles need. */
export interface SiteBundlesDependencies {
  readonly store: SiteBundlesStore;
  readonly lists: ListsStore;
  readonly policies: PoliciesStore;
  readonly querySettings: Pick<QuerySettingsStore, "all">;
  readonly publish: PublishBundle;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** After the probes of a site were given others. */
  readonly onPublished: (siteId: string) => Promise<void>;
}

/** What a bundle's form depends on beside its lists: one that rises is one that is built anew. */
const FORM = 1;

/**
 * Makes a bundle of each site whose lists or decisions are others than those of its last one. Its version rises, also where an older version
 * of a list is active again, so that probes take it.
 * @returns How many sites were given another one.
 */
export async function publishSiteBundles(deps: SiteBundlesDependencies, stopped: AbortSignal): Promise<number> {
  const { store, policies, clock } = deps;
  const before = new Map((await store.all()).map((row) => [row.site_id, row]));
  const tenants = new Set([...(await store.tenants()), ...[...before.values()].map(({ tenant_id: id }) => id)]);
  let published = 0;
  for (const tenantId of tenants) {
    const tenant = await readTenantDns(deps, tenantId, toInstant(clock.now()));
    for (const siteId of await policies.sites(tenantId)) {
      if (stopped.aborted) return published;
      const last = before.get(siteId);
      const site = await siteDnsOf(tenant, siteId, policies);
      const digest = createHash("sha256").update(JSON.stringify([FORM, site.namesKey, site.policy])).digest("hex");
      if (last ? last.digest === digest : isEmpty(site)) continue;
      if (await publishOne(deps, { tenantId, siteId, site, digest, last })) published += 1;
    }
  }
  return published;
}

function isEmpty({ lists, handList, policy }: SiteDns): boolean {
  return lists.length === 0 && handList === "" && policy.policies.length === 0 && policy.queries === undefined;
}

async function publishOne(deps: SiteBundlesDependencies, { tenantId, siteId, site, digest, last }: {
  readonly tenantId: string; readonly siteId: string; readonly site: SiteDns; readonly digest: string; readonly last: SiteBundleRow | undefined;
}): Promise<boolean> {
  const { clock, log } = deps;
  const version = (last?.version ?? 0) + 1;
  const row = { site_id: siteId, tenant_id: tenantId, version, built_at: toInstant(clock.now()) };
  try {
    const loaded = await loadSiteLists(site, deps.lists);
    const rules = site.lists.reduce((sum, { version: of }) => sum + of.rules, 0) + site.handList.split("\n").length - 1;
    const files = buildBundle(site, loaded);
    const bytes = checkSize(files);
    if (!(await deps.publish({ siteId, name: "dns", version, files }))) throw new Error(`version ${version} is there already`);
    await deps.store.put({ ...row, digest, rules, bytes, error: null });
    log.info({ site: siteId, version, rules, bytes }, "made a bundle of block lists for a site's probes");
    await deps.onPublished(siteId);
    return true;
  } catch (error) {
    const reason = describeError(error).slice(0, 500);
    log.error({ site: siteId, reason }, "a bundle of block lists could not be made; the site's probes keep theirs");
    // The version rises, so that one that was published and not written down here is not in the way for ever.
    await deps.store.put({ ...row, digest: last?.digest ?? "", rules: last?.rules ?? 0, bytes: last?.bytes ?? 0, error: reason });
    return false;
  }
}

/** The same lists and decisions always make the same files. */
function buildBundle({ policy, lists: rows }: SiteDns, lists: readonly SiteList[]): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  const rulesOf = new Map(rows.map(({ row, version }) => [row.id, version.rules]));
  const listed = lists.map(({ id, name, category, format, origin, mayRewrite, parts }): DnsBundleLists["lists"][number] => ({
    id, name, category, format, origin, may_rewrite: mayRewrite, rules: rulesOf.get(id) ?? 0,
    parts: parts.map((bytes) => {
      const path = `${DNS_BUNDLE_LISTS}${createHash("sha256").update(id).update(bytes).digest("hex").slice(0, 32)}.gz`;
      files.set(path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
      return path;
    }),
  }));
  const index: DnsBundleLists = { v: 1, site_id: policy.site_id, lists: listed };
  files.set(DNS_BUNDLE_FILES.lists, Buffer.from(JSON.stringify(index)));
  files.set(DNS_BUNDLE_FILES.policy, Buffer.from(JSON.stringify(policy)));
  return files;
}

/** @returns Bytes of all files. @throws Error for more than probes take. */
function checkSize(files: ReadonlyMap<string, Buffer>): number {
  const { maxBytes, maxParts } = BUNDLE_KINDS.dns;
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  if (bytes > maxBytes || files.size > maxParts) throw new Error(`its lists have ${Math.round(bytes / 1e6)} MB in ${files.size} parts, more than a probe takes: disable some`);
  return bytes;
}
