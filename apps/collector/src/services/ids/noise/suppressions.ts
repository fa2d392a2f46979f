import { type IdsState, idsCategoryKey, type IdsSuppressionCreate, type IdsSuppressionRecord, type List, MAX_IDS_SUPPRESSIONS } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { plainNetworks } from "../../../db/keys/plain-networks.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../../gateway/errors.ts";
import { type IdPage, pageOfAll } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import type { NoiseStore, SuppressionRow } from "./store.ts";

/** What is silent and counted. All throw ApiError NOT_FOUND for what the tenant does not have, and what has expired. */
export interface SuppressionsService {
  /** The oldest first. */
  list(tenantId: string, query: IdPage & { readonly site_id?: string | undefined }): Promise<List<IdsSuppressionRecord>>;
  read(tenantId: string, id: string): Promise<IdsSuppressionRecord>;
  /** @throws ApiError BAD_REQUEST for an end that is past; CONFLICT where there are too many. */
  create(actor: Actor, wish: IdsSuppressionCreate): Promise<IdsSuppressionRecord>;
  remove(actor: Actor, id: string): Promise<void>;
}

/** @param deps.probeStates What each probe of the tenant reported of its intrusion detection. @param deps.onChanged After what counts has changed. */
export function createSuppressionsService({ store, audit, clock, probeStates, onChanged }: {
  readonly store: NoiseStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
  readonly probeStates: (tenantId: string) => Promise<readonly IdsState[]>; readonly onChanged: () => void;
}): SuppressionsService {
  const now = () => toInstant(clock.now());
  const target = (id: string) => ({ type: "ids_suppression", id });
  const shown = async (tenantId: string): Promise<readonly IdsSuppressionRecord[]> => {
    const rows = await store.suppressions(null, tenantId, now());
    const atProbes = new Map<string, number>();
    for (const { suppressed } of await probeStates(tenantId)) {
      for (const { suppression_id: id, count } of suppressed) atProbes.set(id, Math.min((atProbes.get(id) ?? 0) + count, Number.MAX_SAFE_INTEGER));
    }
    return rows.map((row) => toRecord(row, atProbes.get(row.id) ?? 0));
  };
  return {
    async list(tenantId, query) {
      await requireSite(store, tenantId, query.site_id);
      const all = await shown(tenantId);
      const { site_id: siteId } = query;
      return pageOfAll(siteId === undefined ? all : all.filter((one) => one.site_id === null || one.site_id === siteId), query, ({ id }) => id);
    },

    async read(tenantId, id) {
      const found = (await shown(tenantId)).find((one) => one.id === id);
      if (!found) throw notFound("suppression");
      return found;
    },

    async create(actor, wish) {
      const { tenantId } = actor;
      if (wish.expires_at !== undefined && wish.expires_at <= now()) throw badRequest([{ path: ["expires_at"], message: "must be in the future" }]);
      await requireSite(store, tenantId, wish.site_id);
      if (wish.device_id !== undefined && !(await store.deviceExists(tenantId, wish.device_id))) throw notFound("device");
      const row = rowOf(actor, wish, now());
      await store.locked(tenantId, async (trx) => {
        await store.forgetExpired(trx, tenantId, now());
        if ((await store.suppressions(trx, tenantId, now())).length >= MAX_IDS_SUPPRESSIONS) {
          throw new ApiError("CONFLICT", `there are ${MAX_IDS_SUPPRESSIONS} suppressions already: delete some, or suppress a category or network`);
        }
        await store.addSuppression(trx, row);
        await audit(trx, { actor, action: "ids_suppression.create", target: target(row.id), before: null, after: toRecord(row, 0) });
      });
      onChanged();
      return toRecord(row, 0);
    },

    async remove(actor, id) {
      await store.locked(actor.tenantId, async (trx) => {
        const row = (await store.suppressions(trx, actor.tenantId, now())).find((one) => one.id === id);
        if (!row) throw notFound("suppression");
        await store.removeSuppression(trx, id);
        await audit(trx, { actor, action: "ids_suppression.delete", target: target(id), before: toRecord(row, 0), after: null });
      });
      onChanged();
    },
  };
}

function rowOf(actor: Actor, wish: IdsSuppressionCreate, at: string): SuppressionRow {
  const network = (text: string | undefined) => (text === undefined ? null : (plainNetworks([text])[0] ?? text));
  return {
    id: createId(), tenant_id: actor.tenantId, site_id: wish.site_id ?? null, signature_id: wish.signature_id ?? null, generator_id: wish.generator_id,
    category: wish.category === undefined ? null : idsCategoryKey(wish.category), source: network(wish.source), destination: network(wish.destination),
    network: network(wish.network), device_id: wish.device_id ?? null, reason: wish.reason, hits: 0, last_hit_at: null, created_by: actor.name, created_at: at,
    expires_at: wish.expires_at ?? null,
  };
}

function toRecord(stored: SuppressionRow, atProbes: number): IdsSuppressionRecord {
  const { tenant_id: _, ...row } = stored;
  return { ...row, hits: Math.min(row.hits + atProbes, Number.MAX_SAFE_INTEGER) };
}
