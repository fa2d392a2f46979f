import { isDeepStrictEqual } from "node:util";
import { type Baseline, type BaselineFactsEdit, type BaselineUpdate, MAX_BASELINE_FACTS } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError } from "../../../gateway/errors.ts";
import { badRequest } from "../../../gateway/route.ts";
import { readSettings } from "../settings.ts";
import { changeBaselines, type NamedBaseline, siteSettings } from "../store/baseline-lists.ts";
import { countFacts, missingDevices } from "../store/fact-lists.ts";
import { type FactRow, findFacts, putFacts, removeFacts } from "../store/facts.ts";
import type { Trx } from "../store/handles.ts";
import type { RestDependencies } from "./dependencies.ts";
import { plainFact, plainKey } from "./facts-of-people.ts";
import { findBaseline, readBaseline } from "./read-baselines.ts";
import { toFact } from "./records.ts";

/** What people change of one baseline. Each change writes its audit record in its transaction, and has the baseline compared anew. */
export interface BaselineEditor {
  /** @throws ApiError NOT_FOUND; BAD_REQUEST for what is a site's alone, or a device's alone. */
  update(actor: Actor, id: string, change: BaselineUpdate): Promise<Baseline>;
  /** Sets and removes facts. @throws ApiError NOT_FOUND; BAD_REQUEST for what is no fact of it; CONFLICT where there are too many. */
  edit(actor: Actor, id: string, edit: BaselineFactsEdit): Promise<Baseline>;
}

/** Over the collector's database. */
export function createBaselineEditor({ store, audit, clock }: RestDependencies): BaselineEditor {
  return {
    update: (actor, id, change) => store.change(actor.tenantId, async (trx, concernsAll) => {
      const row = await findBaseline(trx, actor.tenantId, id);
      await checkUpdate(trx, row, change);
      const at = toInstant(clock.now());
      const before = readSettings(row.settings);
      const own = row.device_id === null ? { missing_minutes: change.missing_minutes, severities: change.severities } : { expected: change.expected };
      const after = { ...before, ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) };
      await changeBaselines(trx, [id], { settings: JSON.stringify(after), updated_at: at, compare_at: at });
      // What is set of a site counts for its devices.
      if (row.device_id === null) concernsAll(row.site_id, at);
      await audit(trx, { actor, action: "baseline.update", target: { type: "baseline", id }, before, after });
      return readBaseline(trx, actor.tenantId, id);
    }),

    edit: (actor, id, wish) => store.change(actor.tenantId, async (trx) => {
      const row = await findBaseline(trx, actor.tenantId, id);
      const edit = plainEdit(row, wish);
      await checkDevices(trx, row, edit);
      const [set, remove] = [edit.set, edit.remove].map((list) => list.map(({ kind, key }) => ({ baseline_id: id, kind, key })));
      const known = await findFacts(trx, [...(set ?? []), ...(remove ?? [])]);
      const knownKeys = new Map(known.map((fact) => [`${fact.kind} ${fact.key}`, fact]));
      const missing = edit.remove.findIndex(({ kind, key }) => !knownKeys.has(`${kind} ${key}`));
      if (missing >= 0) throw badRequest([{ path: ["remove", missing, "key"], message: "the baseline has no such fact" }]);
      const at = toInstant(clock.now());
      const facts = edit.set.map(({ kind, key, value }): FactRow => ({
        baseline_id: id, tenant_id: actor.tenantId, kind, key, value, source: "edited", author: actor.name, reason: edit.reason, first_seen: at,
        looked_at: knownKeys.get(`${kind} ${key}`)?.looked_at ?? null, scope: knownKeys.get(`${kind} ${key}`)?.scope ?? "",
      }));
      await putFacts(trx, facts);
      await removeFacts(trx, remove ?? []);
      await checkCount(trx, id);
      await changeBaselines(trx, [id], { updated_at: at, compare_at: at });
      await audit(trx, {
        actor, action: "baseline.edit", target: { type: "baseline", id }, before: { facts: known.map(toFact) },
        after: { facts: facts.map(toFact), reason: edit.reason },
      });
      return readBaseline(trx, actor.tenantId, id);
    }),
  };
}

/** @throws ApiError CONFLICT where a baseline has more facts than it may. */
export async function checkCount(trx: Trx, baselineId: string): Promise<void> {
  if ((await countFacts(trx, baselineId)) <= MAX_BASELINE_FACTS) return;
  throw new ApiError("CONFLICT", `the baseline would have more than ${MAX_BASELINE_FACTS} facts: remove some`);
}

/** @throws ApiError BAD_REQUEST for what another kind of baseline has. A record as GET gave it is taken. */
async function checkUpdate(trx: Trx, row: NamedBaseline, change: BaselineUpdate): Promise<void> {
  if (row.device_id === null) {
    if (change.expected) throw badRequest([{ path: ["expected"], message: "is for a device; this is the baseline of a site" }]);
    return;
  }
  const ofSite = readSettings((await siteSettings(trx, [row.site_id])).get(row.site_id) ?? "");
  for (const name of ["missing_minutes", "severities"] as const) {
    if (change[name] === undefined || isDeepStrictEqual(change[name], ofSite[name])) continue;
    throw badRequest([{ path: [name], message: "is set for a whole site: change the baseline of the site" }]);
  }
}

/** @throws ApiError BAD_REQUEST for what is no fact of this baseline, and for one that is named twice. */
function plainEdit(row: NamedBaseline, edit: BaselineFactsEdit): BaselineFactsEdit {
  const seen = new Set<string>();
  const once = (path: readonly (string | number)[], kind: string, key: string) => {
    if (seen.has(`${kind} ${key}`)) throw badRequest([{ path: [...path, "key"], message: "is named twice" }]);
    seen.add(`${kind} ${key}`);
  };
  return {
    ...edit,
    set: edit.set.map((given, index) => {
      const plain = plainFact(given, row.device_id === null ? "site" : "device");
      if (!("fact" in plain)) throw badRequest([{ path: ["set", index, plain.path], message: plain.message }]);
      once(["set", index], plain.fact.kind, plain.fact.key);
      return plain.fact;
    }),
    remove: edit.remove.map(({ kind, key }, index) => {
      const plain = plainKey(kind, key);
      once(["remove", index], kind, plain);
      return { kind, key: plain };
    }),
  };
}

/** @throws ApiError BAD_REQUEST for a device that the site does not have. */
async function checkDevices(trx: Trx, { tenant_id: tenantId, site_id: siteId }: NamedBaseline, { set }: BaselineFactsEdit): Promise<void> {
  const ids = set.filter(({ kind }) => kind === "device").map(({ key }) => key);
  const [missing] = await missingDevices(trx, { tenantId, siteId }, ids);
  if (missing !== undefined) {
    throw badRequest([{ path: ["set", set.findIndex(({ key }) => key === missing), "key"], message: "the site has no such device" }]);
  }
}
