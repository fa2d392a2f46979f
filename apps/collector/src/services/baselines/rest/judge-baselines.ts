import type { Baseline, BaselineApprove, BaselineReset } from "@lanthorn/contract";
import { nextTurn, toInstant } from "@lanthorn/runtime";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError } from "../../../gateway/errors.ts";
import { badRequest } from "../../../gateway/route.ts";
import { factTaken } from "../differences/take.ts";
import { type BaselineChange, changeBaselines, deviceBaselines, differenceCounts, factCounts, type NamedBaseline } from "../store/baseline-lists.ts";
import { standingDifferences } from "../store/differences.ts";
import { clearFacts, type FactRow, putFacts, removeFacts } from "../store/facts.ts";
import type { Trx } from "../store/handles.ts";
import { checkCount } from "./change-baselines.ts";
import type { RestDependencies } from "./dependencies.ts";
import { findBaseline, readBaseline } from "./read-baselines.ts";

/** What people say of a baseline as a whole. Each writes its audit record in its transaction, and has the baseline compared anew. */
export interface BaselineJudge {
  /** One that learns begins to be compared. @throws ApiError NOT_FOUND; BAD_REQUEST for the devices of a device; CONFLICT for too many facts. */
  approve(actor: Actor, id: string, wish: BaselineApprove): Promise<Baseline>;
  /** @throws ApiError NOT_FOUND. */
  freeze(actor: Actor, id: string): Promise<Baseline>;
  /** @throws ApiError NOT_FOUND; CONFLICT for one that is not frozen. */
  unfreeze(actor: Actor, id: string): Promise<Baseline>;
  /** Forgets its facts. @throws ApiError NOT_FOUND; BAD_REQUEST for the devices of a device. */
  reset(actor: Actor, id: string, wish: BaselineReset): Promise<Baseline>;
}

/** Baselines of a site's devices that are changed in one transaction, in which ingest waits. */
const AT_ONCE = 50;
/** Fewer where they have many facts and differences: rows that are written in it. */
const ROWS_AT_ONCE = 1000;

/** Over the collector's database. */
export function createBaselineJudge({ store, audit, clock }: RestDependencies): BaselineJudge {
  /** Does it with a baseline, and with those of its site's devices, some at a time: the first transaction has the audit record. */
  const withDevices = async (
    actor: Actor, id: string, hasDevices: boolean, apply: (trx: Trx, rows: readonly NamedBaseline[]) => Promise<{ readonly action: string; readonly after: object }>,
  ): Promise<Baseline> => {
    const siteId = await store.change(actor.tenantId, async (trx) => {
      const row = await findBaseline(trx, actor.tenantId, id);
      if (hasDevices && row.device_id !== null) throw badRequest([{ path: ["devices"], message: "is for the baseline of a site; this is one of a device" }]);
      const { action, after } = await apply(trx, [row]);
      const { state, learning_until, approved_by, approved_at } = row;
      await audit(trx, { actor, action, target: { type: "baseline", id }, before: { state, learning_until, approved_by, approved_at }, after });
      return row.site_id;
    });
    for (let after: string | undefined = hasDevices ? "" : undefined; after !== undefined;) {
      const from: string = after;
      const rows = await store.change(actor.tenantId, async (trx) => {
        const some = await fitting(trx, await deviceBaselines(trx, { tenantId: actor.tenantId, siteId }, from, AT_ONCE));
        if (some.length > 0) await apply(trx, some);
        return some;
      });
      after = rows.at(-1)?.id;
      await nextTurn();
    }
    return readBaseline(store.reads, actor.tenantId, id);
  };
  const set = async (trx: Trx, rows: readonly NamedBaseline[], change: BaselineChange) => changeBaselines(trx, rows.map(({ id }) => id), change);

  return {
    approve(actor, id, { reason, take_differences: isTaken, devices }) {
      const at = toInstant(clock.now());
      return withDevices(actor, id, devices, async (trx, rows) => {
        if (isTaken) await takeAll(trx, rows, { source: "approved", author: actor.name, reason: reason ?? null }, at);
        const approved = { approved_by: actor.name, approved_at: at, updated_at: at, compare_at: at };
        const [learning, others] = [rows.filter(({ state }) => state === "learning"), rows.filter(({ state }) => state !== "learning")];
        await set(trx, learning, { ...approved, state: "active", learning_until: null, learned_at: at });
        // One that is frozen stays so.
        await set(trx, others, approved);
        return { action: "baseline.approve", after: { take_differences: isTaken, devices, reason: reason ?? null } };
      });
    },

    freeze(actor, id) {
      const at = toInstant(clock.now());
      return withDevices(actor, id, false, async (trx, rows) => {
        const isLearning = rows.some(({ state }) => state === "learning");
        await set(trx, rows, { state: "frozen", learning_until: null, updated_at: at, compare_at: at, ...(isLearning && { learned_at: at }) });
        return { action: "baseline.freeze", after: { state: "frozen" } };
      });
    },

    unfreeze(actor, id) {
      const at = toInstant(clock.now());
      return withDevices(actor, id, false, async (trx, rows) => {
        if (rows.some(({ state }) => state !== "frozen")) throw new ApiError("CONFLICT", "the baseline is not frozen");
        await set(trx, rows, { state: "active", updated_at: at, compare_at: at });
        return { action: "baseline.unfreeze", after: { state: "active" } };
      });
    },

    reset(actor, id, { learning_minutes: minutes, devices, reason }) {
      const now = clock.now();
      const at = toInstant(now);
      const until = toInstant(now + minutes * 60_000);
      return withDevices(actor, id, devices, async (trx, rows) => {
        await clearFacts(trx, rows.map((row) => row.id));
        await set(trx, rows, {
          state: "learning", learning_until: until, learned_at: null, approved_by: null, approved_at: null, presence: "", scopes: "", updated_at: at,
          compare_at: at,
        });
        return { action: "baseline.reset", after: { state: "learning", learning_until: until, devices, reason } };
      });
    },
  };
}

/** The first of these, as many as are changed at once: at least one. */
async function fitting(trx: Trx, rows: readonly NamedBaseline[]): Promise<readonly NamedBaseline[]> {
  const ids = rows.map(({ id }) => id);
  const sizes = new Map<string, number>();
  const count = (id: string, more: number) => sizes.set(id, (sizes.get(id) ?? 0) + more);
  for (const { baseline_id: id, facts } of await factCounts(trx, ids)) count(id, facts);
  for (const { baseline_id: id, differences } of await differenceCounts(trx, ids)) count(id, differences);
  let total = 0;
  return rows.filter(({ id }, index) => (total += sizes.get(id) ?? 0) <= ROWS_AT_ONCE || index === 0);
}

/** Makes what differs from baselines part of them. Their differences end when they are compared next. */
async function takeAll(trx: Trx, rows: readonly NamedBaseline[], by: Pick<FactRow, "source" | "author" | "reason">, at: string): Promise<void> {
  // When a device usually is there is learned by the hour.
  const taken = (await standingDifferences(trx, rows.map(({ id }) => id))).filter(({ kind, outcome }) => kind !== "presence" && outcome !== "not_checked");
  await putFacts(trx, taken.flatMap((row) => factTaken(row, by, at) ?? []));
  await removeFacts(trx, taken.filter((row) => factTaken(row, by, at) === null));
  for (const id of new Set(taken.map((row) => row.baseline_id))) await checkCount(trx, id);
}
