import type { CveSuppression, CveSuppressionCreate, CveSuppressionUpdate, List } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../../gateway/errors.ts";
import { type IdPage, pageOfAll } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import type { SuppressionRow } from "./plan.ts";
import type { SuppressionsStore } from "./store.ts";

/** What users have said does not count. One that has expired is NOT_FOUND. */
export interface SuppressionsService {
  /** The oldest first. @throws ApiError BAD_REQUEST for a cursor of another list. */
  list(tenantId: string, page: IdPage): Promise<List<CveSuppression>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<CveSuppression>;
  /** @throws ApiError NOT_FOUND for a site or device; BAD_REQUEST for an end that is past; CONFLICT where there are too many. */
  create(actor: Actor, suppression: CveSuppressionCreate): Promise<CveSuppression>;
  /** @throws ApiError NOT_FOUND; BAD_REQUEST for an end that is past. */
  update(actor: Actor, id: string, change: CveSuppressionUpdate): Promise<CveSuppression>;
  /** @throws ApiError NOT_FOUND. */
  remove(actor: Actor, id: string): Promise<void>;
}

/** All are compared with every match that is shown. */
const MAX_SUPPRESSIONS = 1000;

/** @param deps.onChanged Has what is reported follow a suppression that is new, changed or gone, in the same transaction. */
export function createSuppressionsService({ store, audit, clock, onChanged }: {
  readonly store: SuppressionsStore;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  readonly onChanged: (trx: Transaction<Schema>, row: SuppressionRow) => Promise<void>;
}): SuppressionsService {
  const now = () => toInstant(clock.now());
  const checkEnd = (expiresAt: string | null | undefined) => {
    if (expiresAt !== null && expiresAt !== undefined && expiresAt <= now()) throw badRequest([{ path: ["expires_at"], message: "must be in the future" }]);
  };
  const target = (id: string) => ({ type: "cve_suppression", id });

  return {
    async list(tenantId, page) {
      return pageOfAll((await store.all(null, tenantId, now())).map(toSuppression), page, ({ id }) => id);
    },

    async read(tenantId, id) {
      const row = await store.byId(null, tenantId, id, now());
      if (!row) throw notFound("suppression");
      return toSuppression(row);
    },

    async create(actor, { cve_id: cveId, product, device_id: deviceId, site_id: siteId, reason, expires_at: expiresAt }) {
      const { tenantId } = actor;
      checkEnd(expiresAt);
      await requireSite(store, tenantId, siteId);
      if (deviceId !== undefined && !(await store.deviceExists(tenantId, deviceId))) throw notFound("device");
      const row: SuppressionRow = {
        id: createId(), tenant_id: tenantId, cve_id: cveId ?? null, product: product ?? null, device_id: deviceId ?? null, site_id: siteId ?? null, reason,
        created_by: actor.name, created_at: now(), expires_at: expiresAt ?? null,
      };
      await store.locked(tenantId, async (trx) => {
        if ((await store.all(trx, tenantId, now())).length >= MAX_SUPPRESSIONS) {
          throw new ApiError("CONFLICT", `there are ${MAX_SUPPRESSIONS} suppressions already: delete some, or suppress a product instead of single CVEs`);
        }
        await store.add(trx, row);
        await onChanged(trx, row);
        await audit(trx, { actor, action: "cve_suppression.create", target: target(row.id), before: null, after: toSuppression(row) });
      });
      return toSuppression(row);
    },

    async update(actor, id, { reason, expires_at: expiresAt }) {
      checkEnd(expiresAt);
      return store.locked(actor.tenantId, async (trx) => {
        const row = await store.byId(trx, actor.tenantId, id, now());
        if (!row) throw notFound("suppression");
        const changed = { ...row, reason: reason ?? row.reason, expires_at: expiresAt === undefined ? row.expires_at : expiresAt };
        await store.update(trx, id, { reason: changed.reason, expires_at: changed.expires_at });
        await onChanged(trx, changed);
        await audit(trx, { actor, action: "cve_suppression.update", target: target(id), before: toSuppression(row), after: toSuppression(changed) });
        return toSuppression(changed);
      });
    },

    async remove(actor, id) {
      await store.locked(actor.tenantId, async (trx) => {
        const row = await store.byId(trx, actor.tenantId, id, now());
        if (!row) throw notFound("suppression");
        await store.remove(trx, id);
        await onChanged(trx, row);
        await audit(trx, { actor, action: "cve_suppression.delete", target: target(id), before: toSuppression(row), after: null });
      });
    },
  };
}

function toSuppression(row: SuppressionRow): CveSuppression {
  const { tenant_id: _, ...suppression } = row;
  return suppression;
}
