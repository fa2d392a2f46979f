import type { IdsDiffQuery, IdsRuleDifference, IdsRuleset, IdsRulesetVersion, List } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound } from "../../../gateway/errors.ts";
import { pageOfAll } from "../../../gateway/page.ts";
import { createRulesetChanges } from "./changes.ts";
import { toVersion } from "./records.ts";
import type { RulesetsDependencies } from "./service.ts";

/** Versions of rule sets. All throw ApiError NOT_FOUND for what the tenant does not have. */
export interface VersionsService {
  versions(tenantId: string, id: string): Promise<List<IdsRulesetVersion>>;
  diff(tenantId: string, id: string, version: number, query: IdsDiffQuery): Promise<List<IdsRuleDifference>>;
  /** Makes a version that is kept the one that counts. @param version Null: the one that was active before. @throws ApiError CONFLICT where there is none. */
  activate(actor: Actor, id: string, version: number | null): Promise<IdsRuleset>;
}

/** @param deps As of the rule sets. */
export function createVersionsService(deps: Pick<RulesetsDependencies, "store" | "thread" | "audit" | "clock" | "onChanged">): VersionsService {
  const { store, clock } = deps;
  const { find, change } = createRulesetChanges(deps);
  return {
    async versions(tenantId, id) {
      const row = await find(tenantId, id);
      return pageOfAll((await store.versions(null, id)).map((version) => toVersion(version, row)), { page: 1, per_page: 100 }, ({ version }) => String(version));
    },

    async diff(tenantId, id, version, { against, page, per_page: perPage }) {
      const row = await find(tenantId, id);
      const versions = await store.versions(null, id);
      const other = against ?? row.active_version;
      for (const wanted of [version, ...(against === undefined ? [] : [against])]) {
        if (!versions.some((one) => one.version === wanted)) throw notFound("version");
      }
      const refs = [...(other === null ? [] : [other]), version].map((one) => ({ rulesetId: id, version: one }));
      const { differences } = await deps.thread.ask("compare", refs, null);
      return pageOfAll(differences, { page, per_page: perPage }, () => "");
    },

    async activate(actor, id, wanted) {
      const shown = await change(actor, id, wanted === null ? "ids_ruleset.rollback" : "ids_ruleset.activate", async (trx, row) => {
        const versions = await store.versions(trx, id);
        const before = versions.find(({ version, activated_at: at }) => at !== null && version < (row.active_version ?? 0));
        const found = wanted === null ? before : versions.find(({ version }) => version === wanted);
        if (!found) throw wanted === null ? new ApiError("CONFLICT", "there is no version before that was active") : notFound("version");
        await store.setVersion(trx, { rulesetId: id, version: found.version }, { activated_at: toInstant(clock.now()), is_held: 0 });
        return { active_version: found.version };
      });
      deps.onChanged();
      return shown;
    },
  };
}
