import type { BaselineAccept, BaselineAcceptance, BaselineDifference, BaselineDifferencesQuery, List } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { NewEvent } from "../../../events/log.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../../gateway/errors.ts";
import { pageById } from "../../../gateway/page.ts";
import { differenceEvent } from "../differences/events.ts";
import { countDifferences, differenceById, differences, type NamedDifference } from "../store/difference-lists.ts";
import { setDifferences } from "../store/differences.ts";
import type { AcceptancesService } from "./acceptances.ts";
import type { RestDependencies } from "./dependencies.ts";
import { toDifference } from "./records.ts";

/** What differs from baselines. */
export interface DifferencesService {
  /** The newest first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: BaselineDifferencesQuery): Promise<List<BaselineDifference>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<BaselineDifference>;
  /** @throws ApiError NOT_FOUND; BAD_REQUEST for whom it cannot be right, or an end that is past; CONFLICT for one that has ended, or too many. */
  accept(actor: Actor, id: string, wish: BaselineAccept): Promise<BaselineAcceptance>;
}

/** Over the collector's database. Each change writes its audit record in its transaction. */
export function createDifferencesService(
  { store, clock, log, published, acceptances }: Omit<RestDependencies, "audit"> & { readonly acceptances: Pick<AcceptancesService, "add"> },
): DifferencesService {
  const { reads } = store;
  return {
    async list(tenantId, { page, per_page, cursor, ...filter }) {
      await requireSite(store, tenantId, filter.site_id);
      return pageById({ page, per_page, cursor }, {
        read: (rows) => differences(reads, tenantId, filter, rows), count: () => countDifferences(reads, tenantId, filter), show: toDifference,
      });
    },

    async read(tenantId, id) {
      const row = await differenceById(reads, tenantId, id);
      if (!row) throw notFound("difference");
      return toDifference(row);
    },

    async accept(actor, id, wish) {
      const { acceptance, appended } = await store.change(actor.tenantId, async (trx, concernsAll) => {
        const row = await differenceById(trx, actor.tenantId, id);
        if (!row) throw notFound("difference");
        if (row.state === "ended") throw new ApiError("CONFLICT", "it does not differ any more: there is nothing to accept");
        if (row.state === "accepted") throw new ApiError("CONFLICT", "it was accepted already: delete the acceptance to accept it anew");
        const at = toInstant(clock.now());
        const made = await acceptances.add({ trx, concernsAll }, actor, row, wish);
        // Its alert ends at once; those of others for whom it is right with the next comparison.
        const accepted = { ...row, state: "accepted", acceptance_id: made.id };
        await setDifferences(trx, [accepted]);
        const isReported = row.state === "open" && row.outcome !== "not_checked";
        return { acceptance: made, appended: isReported ? await log.append(trx, actor.tenantId, [endOf(accepted, at)]) : null };
      });
      if (appended) published(actor.tenantId, appended.fromSeq);
      return acceptance;
    },
  };
}

/** The event that ends the alert of a difference. */
function endOf(row: NamedDifference, at: string): NewEvent {
  const place = row.device_id === null ? { ip: row.key.split(" ", 1)[0] ?? "", mac: "" } : { ip: row.ip ?? "", mac: row.mac ?? "" };
  return differenceEvent(row, place, { at, baselineAt: row.approved_at ?? row.learned_at ?? row.first_seen });
}
