import type { IdsRuleset } from "@lanthorn/contract";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { notFound } from "../../../gateway/errors.ts";
import { toRuleset } from "./records.ts";
import type { RulesetRow, RulesetsStore } from "./store.ts";

/** What of an audit record is about. */
export function targetOf(id: string) {
  return { type: "ids_ruleset", id };
}

/** How a tenant's rule set is found and changed. All throw ApiError NOT_FOUND. */
export interface RulesetChanges {
  find(tenantId: string, id: string): Promise<RulesetRow>;
  show(tenantId: string, id: string): Promise<IdsRuleset>;
  /** Changes a row under the tenant's lock, with an audit record of it. */
  change(actor: Actor, id: string, action: string, work: (trx: Transaction<Schema>, row: RulesetRow) => Promise<Partial<RulesetRow>>): Promise<IdsRuleset>;
}

/** Over the store of rule sets. */
export function createRulesetChanges({ store, audit }: { readonly store: RulesetsStore; readonly audit: Audit }): RulesetChanges {
  const find = async (tenantId: string, id: string) => {
    const row = await store.byId(null, tenantId, id);
    if (!row) throw notFound("rule set");
    return row;
  };
  const show = async (tenantId: string, id: string) => {
    const row = await find(tenantId, id);
    return toRuleset(row, await store.versions(null, id));
  };
  return {
    find, show,
    async change(actor, id, action, work) {
      await store.locked(actor.tenantId, async (trx) => {
        const row = await store.byId(trx, actor.tenantId, id);
        if (!row) throw notFound("rule set");
        const columns = await work(trx, row);
        await store.set(trx, id, columns);
        const versions = await store.versions(trx, id);
        await audit(trx, { actor, action, target: targetOf(id), before: toRuleset(row, versions), after: toRuleset({ ...row, ...columns }, versions) });
      });
      return show(actor.tenantId, id);
    },
  };
}
