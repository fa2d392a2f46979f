import { idsCategoryKey, type IdsOverride, type IdsOverrideCreate, type List, MAX_IDS_OVERRIDES } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../../gateway/errors.ts";
import { type IdPage, pageOfAll } from "../../../gateway/page.ts";
import type { Override } from "../rules/records.ts";
import type { NoiseStore, OverrideRow } from "./store.ts";

/** What people change in rules. All throw ApiError NOT_FOUND for what the tenant does not have. */
export interface OverridesService {
  /** The oldest first. */
  list(tenantId: string, page: IdPage): Promise<List<IdsOverride>>;
  read(tenantId: string, id: string): Promise<IdsOverride>;
  /** @throws ApiError CONFLICT where there are too many. */
  create(actor: Actor, wish: IdsOverrideCreate): Promise<IdsOverride>;
  remove(actor: Actor, id: string): Promise<void>;
  /** Switches off what is loud and seldom an attack, before anybody has seen an alert. */
  addFirst(trx: Transaction<Schema>, actor: Actor): Promise<void>;
}

/** Loud, and seldom an attack: who wants them switches them on. */
const OFF_AT_FIRST = ["ET INFO", "ET POLICY"];

/** @param deps.onChanged After what counts has changed. */
export function createOverridesService({ store, audit, clock, onChanged }: {
  readonly store: NoiseStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">; readonly onChanged: () => void;
}): OverridesService {
  const target = (id: string) => ({ type: "ids_override", id });
  const rowOf = (actor: Actor, wish: IdsOverrideCreate): OverrideRow => ({
    id: createId(), tenant_id: actor.tenantId, site_id: wish.site_id ?? null, kind: wish.kind, value: keyOf(wish), state: wish.state ?? null,
    change: JSON.stringify(wish.change ?? {}), reason: wish.reason, created_by: actor.name, created_at: toInstant(clock.now()),
  });
  const add = async (trx: Transaction<Schema>, actor: Actor, row: OverrideRow) => {
    await store.addOverride(trx, row);
    await audit(trx, { actor, action: "ids_override.create", target: target(row.id), before: null, after: toOverride(row) });
  };
  const find = async (handle: Transaction<Schema> | null, tenantId: string, id: string) => {
    const row = (await store.overrides(handle, tenantId)).find((one) => one.id === id);
    if (!row) throw notFound("override");
    return row;
  };
  return {
    list: async (tenantId, page) => pageOfAll((await store.overrides(null, tenantId)).map(toOverride), page, ({ id }) => id),
    read: async (tenantId, id) => toOverride(await find(null, tenantId, id)),
    async create(actor, wish) {
      await requireSite(store, actor.tenantId, wish.site_id);
      const row = rowOf(actor, wish);
      await store.locked(actor.tenantId, async (trx) => {
        if ((await store.overrides(trx, actor.tenantId)).length >= MAX_IDS_OVERRIDES) {
          throw new ApiError("CONFLICT", `there are ${MAX_IDS_OVERRIDES} overrides already: delete some, or change a category instead of single rules`);
        }
        await add(trx, actor, row);
      });
      onChanged();
      return toOverride(row);
    },
    async remove(actor, id) {
      await store.locked(actor.tenantId, async (trx) => {
        const row = await find(trx, actor.tenantId, id);
        await store.removeOverride(trx, id);
        await audit(trx, { actor, action: "ids_override.delete", target: target(id), before: toOverride(row), after: null });
      });
      onChanged();
    },
    async addFirst(trx, actor) {
      const known = new Set((await store.overrides(trx, actor.tenantId)).map(({ kind, value }) => `${kind} ${value}`));
      for (const value of OFF_AT_FIRST) {
        if (known.has(`category ${idsCategoryKey(value)}`)) continue;
        await add(trx, actor, rowOf(actor, { kind: "category", value, state: "disabled", reason: "off at first: loud, and seldom an attack" }));
      }
    },
  };
}

/** As rules are compared with it. */
export function toEffective(row: OverrideRow): Override {
  return {
    id: row.id, site_id: row.site_id, kind: row.kind as Override["kind"], value: row.value, state: row.state as Override["state"],
    change: JSON.parse(row.change) as Override["change"],
  };
}

function toOverride(stored: OverrideRow): IdsOverride {
  const { tenant_id: _, ...row } = stored;
  return { ...row, kind: row.kind as IdsOverride["kind"], state: row.state as IdsOverride["state"], change: JSON.parse(row.change) as IdsOverride["change"] };
}

function keyOf({ kind, value }: IdsOverrideCreate): string {
  if (kind === "category") return idsCategoryKey(value);
  if (kind === "metadata") return value.toLowerCase().split(/\s/).filter(Boolean).join(" ");
  const [first = "", second] = value.split(":");
  return second === undefined ? `1:${Number(first)}` : `${Number(first)}:${Number(second)}`;
}
