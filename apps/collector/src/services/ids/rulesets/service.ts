import {
  type IdsRuleset, type IdsRulesetCreate, type IdsRulesetUpdate, type List, MAX_IDS_RULESETS,
} from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../../gateway/errors.ts";
import { type IdPage, pageOfAll } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import { FileRefused } from "../../../sources/file-refused.ts";
import type { RulesThread } from "../rules/rules-thread.ts";
import { createRulesetChanges, targetOf } from "./changes.ts";
import { toRuleset } from "./records.ts";
import type { RulesetRow, RulesetsStore } from "./store.ts";
import { takeVersion } from "./update-ruleset.ts";

/** Rule sets of a tenant. Each change writes its audit record in the same transaction. All throw ApiError NOT_FOUND for what the tenant does not have. */
export interface RulesetsService {
  list(tenantId: string, page: IdPage): Promise<List<IdsRuleset>>;
  read(tenantId: string, id: string): Promise<IdsRuleset>;
  /** @throws ApiError BAD_REQUEST for rules that are none; CONFLICT where there are too many rule sets. */
  create(actor: Actor, wish: IdsRulesetCreate): Promise<IdsRuleset>;
  /** @throws ApiError BAD_REQUEST for rules that are none, and for what its kind does not have. */
  update(actor: Actor, id: string, change: IdsRulesetUpdate): Promise<IdsRuleset>;
  remove(actor: Actor, id: string): Promise<void>;
  /** Has its source asked now. @throws ApiError CONFLICT for a rule set without a source, and one that is off. */
  fetchNow(actor: Actor, id: string): Promise<IdsRuleset>;
}

/** What rule sets need. */
export interface RulesetsDependencies {
  readonly store: RulesetsStore;
  readonly thread: Pick<RulesThread, "ask">;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  /** Of a tenant's first rule set, in its transaction. */
  readonly onFirst: (trx: Transaction<Schema>, actor: Actor) => Promise<void>;
  /** After what counts has changed. */
  readonly onChanged: () => void;
  /** In the transaction in which a rule set goes. @returns The number of an event that says so; null for none. */
  readonly onGone: (trx: Transaction<Schema>, row: RulesetRow) => Promise<number | null>;
  readonly published: (tenantId: string, fromSeq: number) => void;
  /** After a source is to be asked. */
  readonly onDue: () => void;
}

/** @param deps See `RulesetsDependencies`. */
export function createRulesetsService(deps: RulesetsDependencies): RulesetsService {
  const { store, audit, clock } = deps;
  const now = () => toInstant(clock.now());
  const { find, show, change } = createRulesetChanges(deps);
  const takeRules = async (row: RulesetRow, rules: string) => {
    try {
      await takeVersion(deps, row, { bytes: Buffer.from(rules), name: "local.rules" });
    } catch (error) {
      if (error instanceof FileRefused) throw badRequest([{ path: ["rules"], message: error.message }]);
      throw error;
    }
  };

  return {
    async list(tenantId, page) {
      const rows = await store.all(null, tenantId);
      return pageOfAll(await Promise.all(rows.map(async (row) => toRuleset(row, await store.versions(null, row.id)))), page, ({ id }) => id);
    },

    read: show,

    async create(actor, wish) {
      await requireSite(store, actor.tenantId, wish.site_id);
      const row = newRow(actor, wish, now());
      await store.locked(actor.tenantId, async (trx) => {
        const all = await store.all(trx, actor.tenantId);
        if (all.length >= MAX_IDS_RULESETS) throw new ApiError("CONFLICT", `there are ${MAX_IDS_RULESETS} rule sets already: delete one first`);
        await store.add(trx, row);
        if (all.length === 0) await deps.onFirst(trx, actor);
        await audit(trx, { actor, action: "ids_ruleset.create", target: targetOf(row.id), before: null, after: toRuleset(row, []) });
      });
      if (wish.rules === undefined) deps.onDue();
      else {
        try {
          await takeRules(row, wish.rules);
        } catch (error) {
          await store.locked(actor.tenantId, (trx) => store.remove(trx, row.id));
          throw error;
        }
      }
      return show(actor.tenantId, row.id);
    },

    async update(actor, id, { rules, ...wish }) {
      const row = await find(actor.tenantId, id);
      if (rules !== undefined && row.kind !== "local") throw badRequest([{ path: ["rules"], message: "is only for rule sets of the kind local" }]);
      if (rules !== undefined) await takeRules(row, rules);
      const shown = await change(actor, id, "ids_ruleset.update", (_, { is_enabled: isEnabled, kind, next_at: nextAt }) => {
        const enabled = wish.enabled ?? isEnabled === 1;
        const next = kind === "local" || !enabled ? nextAt : isEnabled === 1 ? nextAt : now();
        return Promise.resolve({
          is_enabled: enabled ? 1 : 0, next_at: next, ...(wish.name !== undefined && { name: wish.name }), ...(wish.checksum_url !== undefined && { checksum_url: wish.checksum_url }),
          ...(wish.interval_hours !== undefined && { interval_hours: wish.interval_hours }), ...(wish.automatic !== undefined && { is_automatic: wish.automatic ? 1 : 0 }),
        });
      });
      deps.onChanged();
      return shown;
    },

    remove: (actor, id) => removeRuleset(deps, actor, id),

    async fetchNow(actor, id) {
      const row = await find(actor.tenantId, id);
      if (row.kind === "local") throw new ApiError("CONFLICT", "this rule set has no source: send its rules");
      if (row.is_enabled === 0) throw new ApiError("CONFLICT", "this rule set is off: enable it first");
      const shown = await change(actor, id, "ids_ruleset.fetch", () => Promise.resolve({ next_at: now() }));
      deps.onDue();
      return shown;
    },
  };
}

async function removeRuleset({ store, audit, onGone, published, onChanged }: RulesetsDependencies, actor: Actor, id: string): Promise<void> {
  const fromSeq = await store.locked(actor.tenantId, async (trx) => {
    const row = await store.byId(trx, actor.tenantId, id);
    if (!row) throw notFound("rule set");
    await audit(trx, { actor, action: "ids_ruleset.delete", target: targetOf(id), before: toRuleset(row, await store.versions(trx, id)), after: null });
    await store.remove(trx, id);
    return onGone(trx, row);
  });
  if (fromSeq !== null) published(actor.tenantId, fromSeq);
  onChanged();
}

function newRow(actor: Actor, wish: IdsRulesetCreate, at: string): RulesetRow {
  const kind = wish.url === undefined ? (wish.file === undefined ? "local" : "file") : "url";
  return {
    id: createId(), tenant_id: actor.tenantId, site_id: wish.site_id ?? null, name: wish.name, kind, place: wish.url ?? wish.file ?? "", checksum_url: wish.checksum_url ?? null,
    interval_hours: wish.interval_hours, is_enabled: wish.enabled ? 1 : 0, is_automatic: wish.automatic ? 1 : 0, active_version: null, last_version: 0, validators: "{}",
    next_at: kind === "local" ? null : at, checked_at: null, failures: 0, error: null, reported: "", created_by: actor.name, created_at: at,
  };
}
