import type { Alert, AlertAction, AlertFacets, AlertFacetsQuery, AlertsExportQuery, AlertsQuery, List } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import { csvPages, EXPORT_ROWS } from "../../gateway/csv/csv.ts";
import type { Position } from "../../gateway/cursor.ts";
import { notFound } from "../../gateway/errors.ts";
import { type IdPage, pageById, pageBySort } from "../../gateway/page.ts";
import { type AlertChanges, alertChanges, type AlertChangesDependencies } from "./changes.ts";
import { createReadConditions } from "./conditions.ts";
import { ALERT_COLUMNS } from "./csv.ts";
import { type AlertMutes, alertMutes, type AlertMutesDependencies } from "./mutes.ts";
import type { AlertRow } from "./reaction/store.ts";
import { toAction, toAlert, toFacets, toListedAlert } from "./records.ts";
import { SORT_COLUMNS } from "./store.ts";

/** Alerts as the API shows and changes them. */
export interface AlertsService extends AlertChanges, AlertMutes {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have; BAD_REQUEST for a cursor of another list. */
  list(tenantId: string, query: AlertsQuery): Promise<List<Alert>>;
  /** Every alert of the list as CSV, some hundreds at a time. @throws ApiError as `list`. */
  exportCsv(tenantId: string, query: AlertsExportQuery): Promise<AsyncGenerator<string>>;
  /** How often values occur in the list. @throws ApiError as `list`. */
  facets(tenantId: string, query: AlertFacetsQuery): Promise<AlertFacets>;
  /** What people did with it, the newest first. @throws ApiError NOT_FOUND. */
  history(tenantId: string, alertId: string, page: IdPage): Promise<List<AlertAction>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, alertId: string): Promise<Alert>;
}

/** An alert that a person resolves is published only if its opening was. A tenant has at most 1000 mutes. */
export function createAlertsService(deps: AlertChangesDependencies & AlertMutesDependencies): AlertsService {
  const { store, clock } = deps;
  const conditions = createReadConditions(deps);
  const mutesOf = (tenantId: string) => store.mutes(tenantId, toInstant(clock.now()));

  const find = async (tenantId: string, alertId: string) => {
    const row = await store.byId(tenantId, alertId);
    if (!row) throw notFound("alert");
    return row;
  };

  /** What the list is narrowed to and in which order. */
  const narrow = async (tenantId: string, query: AlertsExportQuery) => {
    const { sort } = query;
    const filter = await conditions(tenantId, query);
    const descending = sort.startsWith("-");
    const field = (descending ? sort.slice(1) : sort) as keyof typeof SORT_COLUMNS;
    const positionOf = (row: AlertRow): Position => ({ value: String(row[SORT_COLUMNS[field]]), id: row.id });
    return { filter, order: { field, descending }, positionOf };
  };

  return {
    ...alertChanges({ ...deps, conditions }), ...alertMutes(deps),

    async list(tenantId, query) {
      const { filter, order, positionOf } = await narrow(tenantId, query);
      const mutes = await mutesOf(tenantId);
      return pageBySort(query, {
        read: async (page) => ({
          rows: await store.list(tenantId, filter, { ...order, ...page }), total: await store.count(tenantId, filter),
        }),
        positionOf, show: (row) => toListedAlert(row, mutes),
      });
    },

    async exportCsv(tenantId, query) {
      const { filter, order, positionOf } = await narrow(tenantId, query);
      const mutes = await mutesOf(tenantId);
      return csvPages(ALERT_COLUMNS, {
        read: (from) => store.list(tenantId, filter, { ...order, limit: EXPORT_ROWS, from }), positionOf,
        show: (row) => toListedAlert(row, mutes),
      });
    },

    facets: async (tenantId, query) => toFacets(await store.countFacets(tenantId, await conditions(tenantId, query))),

    async history(tenantId, alertId, page) {
      await find(tenantId, alertId);
      return pageById(page, { read: (rows) => store.actions(alertId, rows), count: () => store.countActions(alertId), show: toAction });
    },

    read: async (tenantId, alertId) => toAlert(await find(tenantId, alertId), await mutesOf(tenantId)),
  };
}
