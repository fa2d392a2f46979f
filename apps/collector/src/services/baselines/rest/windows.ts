import { type BaselineSettingsQuery, type BaselineWindow, type BaselineWindowCreate, type List, MAX_BASELINE_WINDOWS } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../../gateway/errors.ts";
import { pageById } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import { tagsOf } from "../store/acceptances.ts";
import type { Trx } from "../store/handles.ts";
import { addWindow, countWindows, removeWindow, windowById, type WindowRow, windows } from "../store/windows.ts";
import type { RestDependencies } from "./dependencies.ts";
import { toWindow } from "./records.ts";

/** Times in which differences are not reported. */
export interface WindowsService {
  /** Those that are not over, the oldest first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: BaselineSettingsQuery): Promise<List<BaselineWindow>>;
  /** @throws ApiError NOT_FOUND for a site or device; BAD_REQUEST for an end that is past or too far; CONFLICT where there are too many. */
  create(actor: Actor, wish: BaselineWindowCreate): Promise<BaselineWindow>;
  /** What was held in it is reported if it still differs. @throws ApiError NOT_FOUND. */
  remove(actor: Actor, id: string): Promise<void>;
}

const DAY_MS = 86_400_000;
/** A window for ever hides what it should only hold back; as mutes of alerts. */
const MAX_AHEAD_MS = 366 * DAY_MS;
/** A window that is over is kept for the comparison that comes after it. */
const KEPT_MS = DAY_MS;

/** Over the collector's database. Each change writes its audit record in its transaction. */
export function createWindowsService({ store, audit, clock }: RestDependencies): WindowsService {
  const { reads } = store;
  const find = async (trx: Trx, tenantId: string, id: string) => {
    const row = await windowById(trx, tenantId, id);
    if (!row) throw notFound("window");
    return row;
  };

  return {
    async list(tenantId, { site_id: siteId, ...page }) {
      await requireSite(store, tenantId, siteId);
      const filter = { siteId, now: toInstant(clock.now()) };
      return pageById(page, {
        read: (rows) => windows(reads, tenantId, filter, rows), count: () => countWindows(reads, tenantId, filter), show: toWindow,
      });
    },

    async create(actor, { site_id: siteId, device_id: deviceId, tag, ...wish }) {
      const { tenantId } = actor;
      checkEnd(wish.ends_at, clock);
      await requireSite(store, tenantId, siteId);
      return store.change(tenantId, async (trx, concernsAll) => {
        if (deviceId !== undefined && (await tagsOf(trx, tenantId, deviceId, siteId)) === null) throw notFound("device");
        const at = toInstant(clock.now());
        if ((await countWindows(trx, tenantId, { siteId: undefined, now: at })) >= MAX_BASELINE_WINDOWS) {
          throw new ApiError("CONFLICT", `there are ${MAX_BASELINE_WINDOWS} windows already: delete some, or make one for a whole site`);
        }
        const row: WindowRow = {
          id: createId(), tenant_id: tenantId, site_id: siteId, device_id: deviceId ?? null, tag: tag ?? null, ...wish, created_by: actor.name,
          created_at: at,
        };
        await addWindow(trx, row, toInstant(clock.now() - KEPT_MS));
        concernsAll(siteId, at);
        const shown = toWindow(await find(trx, tenantId, row.id));
        await audit(trx, { actor, action: "baseline_window.create", target: { type: "baseline_window", id: row.id }, before: null, after: shown });
        return shown;
      });
    },

    remove: (actor, id) => store.change(actor.tenantId, async (trx, concernsAll) => {
      const row = await find(trx, actor.tenantId, id);
      await removeWindow(trx, id);
      concernsAll(row.site_id, toInstant(clock.now()));
      await audit(trx, { actor, action: "baseline_window.delete", target: { type: "baseline_window", id }, before: toWindow(row), after: null });
    }),
  };
}

/** @throws ApiError BAD_REQUEST. */
function checkEnd(endsAt: string, clock: Pick<Clock, "now">): void {
  const aheadMs = Date.parse(endsAt) - clock.now();
  if (aheadMs <= 0 || aheadMs > MAX_AHEAD_MS) throw badRequest([{ path: ["ends_at"], message: "must be within the next 366 days" }]);
}
