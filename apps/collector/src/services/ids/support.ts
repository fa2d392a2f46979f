import { type BundleState, type IdsState, type IdsSupport, ProbeHealth } from "@lanthorn/contract";
import { parseJson } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { requireSite } from "../../gateway/errors.ts";
import type { NoiseStore } from "./noise/store.ts";
import { toEffective } from "./noise/overrides.ts";
import type { RulesThread } from "./rules/rules-thread.ts";
import { readProbes } from "./reports-store.ts";
import type { SiteBundlesStore } from "./bundles/store.ts";
import type { RulesetsStore } from "./rulesets/store.ts";

/** Which rules are loaded and which are refused, here and at probes. */
export interface SupportService {
  read(tenantId: string, siteId: string | undefined): Promise<IdsSupport>;
}

const MAX_SHOWN = 100;
const ReportedIds = ProbeHealth.pick({ ids: true, bundles: true });

/** Over the collector's database. */
export function createSupportService({ reads, rulesets, noise, thread, bundles: bundlesStore }: {
  readonly reads: Kysely<Schema>; readonly bundles: Pick<SiteBundlesStore, "all">; readonly rulesets: RulesetsStore; readonly noise: NoiseStore; readonly thread: Pick<RulesThread, "ask">;
}): SupportService {
  return {
    async read(tenantId, siteId) {
      await requireSite(noise, tenantId, siteId);
      const rows = (await rulesets.all(null, tenantId)).filter((row) => row.is_enabled === 1 && (row.site_id === null || siteId === undefined || row.site_id === siteId));
      const refs = rows.flatMap(({ id, active_version: version }) => (version === null ? [] : [{ rulesetId: id, version }]));
      const overrides = (await noise.overrides(null, tenantId)).map(toEffective);
      const sets = refs.length === 0 ? [] : await thread.ask("support", refs, { overrides, siteId: siteId ?? null });
      const bundles = (await bundlesStore.all()).filter((row) => row.tenant_id === tenantId && (siteId === undefined || row.site_id === siteId));
      const offered = new Map(bundles.map((row) => [row.site_id, row.version]));
      const probes = (await readProbes(reads, tenantId)).filter((probe) => siteId === undefined || probe.site_id === siteId);
      return {
        rulesets: sets.map((set) => ({
          ruleset_id: set.rulesetId, name: rows.find(({ id }) => id === set.rulesetId)?.name ?? "", loaded: set.loaded, refused: set.refused, reasons: [...set.reasons].slice(0, MAX_SHOWN),
          unreadable: [...set.unreadable].slice(0, MAX_SHOWN), unset_bits: [...set.unsetBits].slice(0, MAX_SHOWN),
        })),
        probes: probes.map(({ id, name, site_id: site, health }) => {
          const { ids = null, bundles: states = [] } = readReport(health);
          return { probe_id: id, name, site_id: site, offered_version: offered.get(site) ?? null, bundle_error: states.find((state) => state.name === "ids")?.error ?? null, ids };
        }),
        sites: bundles.map(({ site_id: id, version, rules, refused, faults, error, built_at: builtAt }) => ({
          site_id: id, version, rules, refused, faults: JSON.parse(faults) as IdsSupport["sites"][number]["faults"], error, built_at: builtAt,
        })),
      };
    },
  };
}

/** What each probe of a tenant reported last of its intrusion detection. */
export async function readIdsStates(reads: Kysely<Schema>, tenantId: string): Promise<readonly IdsState[]> {
  return (await readProbes(reads, tenantId)).flatMap(({ health }) => readReport(health).ids ?? []);
}

function readReport(health: string | null): { readonly ids?: IdsState | undefined; readonly bundles?: readonly BundleState[] | undefined } {
  const read = ReportedIds.safeParse(health === null ? null : parseJson(health));
  return read.success ? read.data : {};
}
