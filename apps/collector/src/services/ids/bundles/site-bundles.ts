import { createHash } from "node:crypto";
import { BUNDLE_KINDS, BUNDLE_PART_MAX_BYTES } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import { toEffective } from "../noise/overrides.ts";
import { type DeviceAddresses, type NoiseStore, type OverrideRow, type SuppressionRow, toCompared } from "../noise/store.ts";
import type { BuiltBundle } from "../rules/build-bundle.ts";
import type { RulesThread } from "../rules/rules-thread.ts";
import type { RulesetRow, RulesetsStore } from "../rulesets/store.ts";
import type { SiteBundleRow, SiteBundlesStore } from "./store.ts";

/** Signs a version of a site's bundle and puts it in the place of the one before. @returns False where one as high is there. */
export type PublishBundle = (bundle: { readonly siteId: string; readonly name: "ids"; readonly version: number; readonly files: ReadonlyMap<string, Buffer> }) => Promise<boolean>;

/** What site bundles need. */
export interface SiteBundlesDependencies {
  readonly store: SiteBundlesStore;
  readonly devicesOf: (rows: readonly SuppressionRow[]) => Promise<DeviceAddresses>;
  /** Variables of addresses of a site. */
  readonly addressesOf: (tenantId: string, siteId: string) => Promise<Readonly<Record<string, string>>>;
  readonly rulesets: RulesetsStore;
  readonly noise: NoiseStore;
  readonly thread: Pick<RulesThread, "ask">;
  readonly publish: PublishBundle;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** After the probes of a site were given others. */
  readonly onPublished: (siteId: string) => Promise<void>;
}

interface TenantRules {
  readonly rulesets: readonly RulesetRow[];
  readonly digests: ReadonlyMap<string, string>;
  readonly overrides: readonly OverrideRow[];
  readonly suppressions: readonly SuppressionRow[];
  readonly devices: DeviceAddresses;
}

/** What a bundle's form depends on beside its rules: one that rises is one that is built anew. */
const FORM = 1;

/**
 * Makes a bundle of each site whose rules, overrides or suppressions are others than those of its last one. Its version rises, also
 * where an older version of a rule set is active again, so that probes take it.
 * @returns How many sites were given another one.
 */
export async function publishSiteBundles(deps: SiteBundlesDependencies, stopped: AbortSignal): Promise<number> {
  const { store } = deps;
  const before = new Map((await store.all()).map((row) => [row.site_id, row]));
  const tenants = new Set([...(await store.tenants()), ...[...before.values()].map(({ tenant_id: id }) => id)]);
  let published = 0;
  for (const tenantId of tenants) {
    const rules = await readTenant(deps, tenantId);
    for (const siteId of await store.sites(tenantId)) {
      if (stopped.aborted) return published;
      const last = before.get(siteId);
      const addresses = await deps.addressesOf(tenantId, siteId);
      const digest = digestOf(rules, siteId, addresses);
      if (last ? last.digest === digest : rules.rulesets.every(({ active_version: version }) => version === null)) continue;
      if (await publishOne(deps, { tenantId, siteId, rules, addresses, digest, last })) published += 1;
    }
  }
  return published;
}

async function readTenant({ rulesets: store, noise, devicesOf, clock }: SiteBundlesDependencies, tenantId: string): Promise<TenantRules> {
  const rulesets = await store.all(null, tenantId);
  const versions = await Promise.all(rulesets.map((row) => store.versions(null, row.id)));
  const digests = new Map(rulesets.map((row, index) => [row.id, versions[index]?.find(({ version }) => version === row.active_version)?.digest ?? ""]));
  const suppressions = await noise.suppressions(null, tenantId, toInstant(clock.now()));
  return { rulesets, digests, overrides: await noise.overrides(null, tenantId), suppressions, devices: await devicesOf(suppressions) };
}

/** Rule sets of a site that count: those by hand last, so that theirs win. */
function activeOf({ rulesets }: TenantRules, siteId: string): readonly (RulesetRow & { readonly active_version: number })[] {
  const isOf = (row: RulesetRow): row is RulesetRow & { readonly active_version: number } =>
    row.active_version !== null && row.is_enabled === 1 && (row.site_id === null || row.site_id === siteId);
  return rulesets.filter(isOf).toSorted((a, b) => Number(a.kind === "local") - Number(b.kind === "local"));
}

function digestOf(rules: TenantRules, siteId: string, addresses: Readonly<Record<string, string>>): string {
  const overrides = rules.overrides.filter((row) => row.site_id === null || row.site_id === siteId).map(({ id }) => id);
  const active = activeOf(rules, siteId).map(({ id }) => [id, rules.digests.get(id)]);
  return createHash("sha256").update(JSON.stringify([FORM, active, overrides, toCompared(rules.suppressions, siteId, rules.devices), ...(Object.keys(addresses).length > 0 ? [addresses] : [])])).digest("hex");
}

async function publishOne(deps: SiteBundlesDependencies, { tenantId, siteId, rules, addresses, digest, last }: {
  readonly tenantId: string; readonly siteId: string; readonly rules: TenantRules; readonly addresses: Readonly<Record<string, string>>; readonly digest: string; readonly last: SiteBundleRow | undefined;
}): Promise<boolean> {
  const { thread, clock, log } = deps;
  const builtAt = toInstant(clock.now());
  const version = (last?.version ?? 0) + 1;
  try {
    const refs = activeOf(rules, siteId).map((row) => ({ rulesetId: row.id, version: row.active_version }));
    const built = await thread.ask("bundle", refs, {
      siteId, builtAt, overrides: rules.overrides.map(toEffective), suppressions: toCompared(rules.suppressions, siteId, rules.devices), addresses,
    });
    checkSize(built);
    const files = new Map([...built.files].map(([path, bytes]) => [path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)]));
    if (!(await deps.publish({ siteId, name: "ids", version, files }))) throw new Error(`version ${version} is there already`);
    const faults = JSON.stringify(built.faults.map(({ overrideId, rule, reason }) => ({ override_id: overrideId, rule, reason })));
    await deps.store.put({ site_id: siteId, tenant_id: tenantId, version, digest, rules: built.rules, refused: built.refused, faults, error: null, built_at: builtAt });
    log.info({ site: siteId, version, rules: built.rules, refused: built.refused }, "made a bundle of rules for a site's probes");
    await deps.onPublished(siteId);
    return true;
  } catch (error) {
    const reason = describeError(error).slice(0, 500);
    log.error({ site: siteId, reason }, "a bundle of rules could not be made; the site's probes keep theirs");
    // The version rises, so that one that was published and not written down here is not in the way for ever.
    const kept = last ?? { rules: 0, refused: 0, faults: "[]", digest: "" };
    await deps.store.put({ site_id: siteId, tenant_id: tenantId, version, digest: kept.digest, rules: kept.rules, refused: kept.refused, faults: kept.faults, error: reason, built_at: builtAt });
    return false;
  }
}

function checkSize({ files }: BuiltBundle): void {
  const { maxBytes, maxParts } = BUNDLE_KINDS.ids;
  const sizes = [...files.values()].map(({ length }) => length);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > maxBytes || sizes.length > maxParts || sizes.some((size) => size > BUNDLE_PART_MAX_BYTES)) {
    throw new Error(`its enabled rules have ${Math.round(bytes / 1e6)} MB, more than a probe takes: disable some`);
  }
}
