import { idsCategoryKey, type IdsRule, type IdsRuleDetails, type IdsRulesQuery, type List } from "@lanthorn/contract";
import { notFound, requireSite } from "../../gateway/errors.ts";
import type { CountsStore } from "./noise/counts-store.ts";
import { toEffective } from "./noise/overrides.ts";
import type { NoiseStore } from "./noise/store.ts";
import type { RulesThread } from "./rules/rules-thread.ts";
import type { RulesetsStore } from "./rulesets/store.ts";

/** Rules of the active versions. */
export interface RulesService {
  /** @throws ApiError NOT_FOUND for a site or rule set that the tenant does not have. */
  search(tenantId: string, query: IdsRulesQuery): Promise<List<IdsRule>>;
  /** The rule as it counts: of several sets' the one with the highest revision. @throws ApiError NOT_FOUND. */
  read(tenantId: string, rule: { readonly gid: number; readonly sid: number; readonly siteId: string | undefined }): Promise<IdsRuleDetails>;
}

/** Reads in the thread of rules. */
export function createRulesService({ rulesets, noise, counts, thread }: {
  readonly rulesets: RulesetsStore; readonly noise: NoiseStore; readonly counts: CountsStore; readonly thread: Pick<RulesThread, "ask">;
}): RulesService {
  const refsOf = async (tenantId: string, siteId: string | undefined) => {
    await requireSite(noise, tenantId, siteId);
    const rows = await rulesets.all(null, tenantId);
    return rows.filter((row) => row.site_id === null || row.site_id === siteId || siteId === undefined);
  };
  const overridesOf = async (tenantId: string) => (await noise.overrides(null, tenantId)).map(toEffective);
  return {
    async search(tenantId, query) {
      const { page, per_page: perPage, site_id: siteId, ruleset_id: rulesetId } = query;
      const rows = await refsOf(tenantId, siteId);
      if (rulesetId !== undefined && !rows.some(({ id }) => id === rulesetId)) throw notFound("rule set");
      const refs = rows.flatMap(({ id, active_version: version }) => (version === null || (rulesetId !== undefined && id !== rulesetId) ? [] : [{ rulesetId: id, version }]));
      const { rules, total } = refs.length === 0 ? { rules: [], total: 0 } : await thread.ask("search", refs, {
        overrides: await overridesOf(tenantId),
        search: {
          siteId: siteId ?? null, signatureId: query.signature_id ?? null, generatorId: query.generator_id ?? null, text: query.search?.toLowerCase() ?? null,
          category: query.category === undefined ? null : idsCategoryKey(query.category), state: query.state ?? null, technique: query.technique?.toLowerCase() ?? null,
          from: (page - 1) * perPage, limit: perPage,
        },
      });
      return { data: rules, meta: { page, per_page: perPage, total, next_cursor: null } };
    },

    async read(tenantId, { gid, sid, siteId }) {
      const rows = await refsOf(tenantId, siteId);
      const refs = rows.flatMap(({ id, active_version: version }) => (version === null ? [] : [{ rulesetId: id, version }]));
      const found = refs.length === 0 ? [] : await thread.ask("rule", refs, { overrides: await overridesOf(tenantId), siteId: siteId ?? null, gid, sid });
      const [best] = found.toSorted((a, b) => b.revision - a.revision);
      if (!best) throw notFound("rule");
      return { ...best, alerts: await counts.ofSignature(tenantId, { gid, sid }) };
    },
  };
}
