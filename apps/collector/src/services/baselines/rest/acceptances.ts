import { type BaselineAccept, type BaselineAcceptance, type BaselineSettingsQuery, type List, MAX_BASELINE_ACCEPTANCES } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../../gateway/errors.ts";
import { pageById } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import { acceptanceById, type AcceptanceRow, acceptances, addAcceptance, countAcceptances, removeAcceptance, tagsOf } from "../store/acceptances.ts";
import { baselinesOfDevices, markDue } from "../store/baselines.ts";
import type { NamedDifference } from "../store/difference-lists.ts";
import type { Change, Trx } from "../store/handles.ts";
import type { RestDependencies } from "./dependencies.ts";
import { toAcceptance } from "./records.ts";

/** What people accepted of what differs. */
export interface AcceptancesService {
  /** Those that have not expired, the oldest first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: BaselineSettingsQuery): Promise<List<BaselineAcceptance>>;
  /** Adds one for a difference, which stays as it is. @throws ApiError BAD_REQUEST for whom it cannot be right, or an end that is past; CONFLICT for too many. */
  add(change: Change, actor: Actor, row: NamedDifference, wish: BaselineAccept): Promise<BaselineAcceptance>;
  /** What it covered is reported again if it still differs. @throws ApiError NOT_FOUND. */
  remove(actor: Actor, id: string): Promise<void>;
}

/** Over the collector's database. Each change writes its audit record in its transaction. */
export function createAcceptancesService({ store, audit, clock }: Pick<RestDependencies, "store" | "audit" | "clock">): AcceptancesService {
  const { reads } = store;
  const find = async (trx: Trx, tenantId: string, id: string) => {
    const row = await acceptanceById(trx, tenantId, id);
    if (!row) throw notFound("acceptance");
    return toAcceptance(row);
  };

  return {
    async list(tenantId, { site_id: siteId, ...page }) {
      await requireSite(store, tenantId, siteId);
      const filter = { siteId, now: toInstant(clock.now()) };
      return pageById(page, {
        read: (rows) => acceptances(reads, tenantId, filter, rows), count: () => countAcceptances(reads, tenantId, filter), show: toAcceptance,
      });
    },

    async add({ trx, concernsAll }, actor, row, wish) {
      const at = toInstant(clock.now());
      if (wish.expires_at !== undefined && wish.expires_at <= at) throw badRequest([{ path: ["expires_at"], message: "must be in the future" }]);
      if ((await countAcceptances(trx, actor.tenantId, { siteId: undefined, now: at })) >= MAX_BASELINE_ACCEPTANCES) {
        throw new ApiError("CONFLICT", `there are ${MAX_BASELINE_ACCEPTANCES} acceptances already: delete some, or approve baselines with what differs`);
      }
      const acceptance: AcceptanceRow = {
        id: createId(), tenant_id: actor.tenantId, ...await forWhom(trx, row, wish), kind: row.kind, key: row.key, outcome: row.outcome,
        observed: row.observed, reason: wish.reason, created_by: actor.name, created_at: at, expires_at: wish.expires_at ?? null,
      };
      await addAcceptance(trx, acceptance);
      if (acceptance.device_id === null) concernsAll(acceptance.site_id, at);
      else await markDue(trx, [row.baseline_id], at);
      const shown = await find(trx, actor.tenantId, acceptance.id);
      await audit(trx, {
        actor, action: "baseline_acceptance.create", target: { type: "baseline_acceptance", id: shown.id }, before: null,
        after: { ...shown, difference_id: row.id },
      });
      return shown;
    },

    remove: (actor, id) => store.change(actor.tenantId, async (trx, concernsAll) => {
      const before = await find(trx, actor.tenantId, id);
      await removeAcceptance(trx, id);
      const at = toInstant(clock.now());
      if (before.device_id === null) concernsAll(before.site_id, at);
      else await markDue(trx, (await baselinesOfDevices(trx, [before.device_id])).map((one) => one.id), at);
      await audit(trx, { actor, action: "baseline_acceptance.delete", target: { type: "baseline_acceptance", id }, before, after: null });
    }),
  };
}

/** Where an acceptance holds. @throws ApiError BAD_REQUEST where the difference is not one of those. */
async function forWhom(
  trx: Trx, row: NamedDifference, { for: whom, tag }: BaselineAccept,
): Promise<Pick<AcceptanceRow, "site_id" | "device_id" | "tag">> {
  const { tenant_id: tenantId, site_id: siteId, device_id: deviceId } = row;
  if (whom === "site") return { site_id: siteId, device_id: null, tag: null };
  if (deviceId === null) throw badRequest([{ path: ["for"], message: "must be `site`: the difference is one of the site itself" }]);
  if (whom === "device") return { site_id: siteId, device_id: deviceId, tag: null };
  const tags = await tagsOf(trx, tenantId, deviceId);
  if (tag === undefined || tags?.includes(tag) !== true) {
    throw badRequest([{ path: ["tag"], message: `the device does not have this tag; its tags are ${tags?.join(", ") || "none"}` }]);
  }
  return { site_id: null, device_id: null, tag };
}
