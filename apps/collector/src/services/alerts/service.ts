import type { Alert, AlertMute, AlertMuteCreate, AlertsExportQuery, AlertsQuery, List } from "@lanthorn/contract";
import { momentToInstant } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import { csvPages, EXPORT_ROWS } from "../../gateway/csv.ts";
import type { Position } from "../../gateway/cursor.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { type IdPage, pageBySort, pageOfAll } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import { ALERT_COLUMNS } from "./csv.ts";
import type { AlertRow } from "./reaction-store.ts";
import { alertEvent } from "./reaction.ts";
import { toAlert, toListedAlert, toMute } from "./records.ts";
import { type AlertsStore, SORT_COLUMNS } from "./store.ts";

export interface AlertsService {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have; BAD_REQUEST for a cursor of another list. */
  list(tenantId: string, query: AlertsQuery): Promise<List<Alert>>;
  /** Every alert of the list as CSV, some hundreds at a time. @throws ApiError as `list`. */
  exportCsv(tenantId: string, query: AlertsExportQuery): Promise<AsyncGenerator<string>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, alertId: string): Promise<Alert>;
  /** Somebody has seen it: it stays, and counts on. @throws ApiError NOT_FOUND; CONFLICT when it is resolved. */
  acknowledge(actor: Actor, alertId: string): Promise<Alert>;
  /** The matter is dealt with: the same again is a new alert. Once is enough; a second time changes nothing. @throws ApiError NOT_FOUND. */
  resolve(actor: Actor, alertId: string): Promise<Alert>;
  /** Those that count now, oldest first. */
  mutes(tenantId: string, page: IdPage): Promise<List<AlertMute>>;
  /** @throws ApiError NOT_FOUND, also for one that has expired. */
  readMute(tenantId: string, muteId: string): Promise<AlertMute>;
  /** @throws ApiError BAD_REQUEST for an end that is past or too far; NOT_FOUND for a site; CONFLICT when there are too many. */
  mute(actor: Actor, mute: AlertMuteCreate): Promise<AlertMute>;
  /** @throws ApiError NOT_FOUND. */
  unmute(actor: Actor, muteId: string): Promise<void>;
}

/** A mute for ever is forgotten; this one is renewed by who still wants it. */
const MAX_MUTE_MS = 366 * 86_400_000;
/** All are compared with every alert. */
const MAX_MUTES = 1000;

export function createAlertsService(deps: {
  readonly store: AlertsStore;
  readonly log: Pick<EventLog, "append">;
  /** Tells the live stream of committed events. */
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}): AlertsService {
  const { store, clock, audit } = deps;
  const now = () => toInstant(clock.now());
  const mutesOf = (tenantId: string) => store.mutes(tenantId, now());

  /** What the list is narrowed to and in which order. An empty list would hide a mistyped site, so that is 404. */
  const narrow = async (tenantId: string, query: AlertsExportQuery) => {
    const { sort, source, severity, status, type, search, site_id: siteId, device_id: deviceId } = query;
    if (siteId !== undefined && !(await store.siteExists(tenantId, siteId))) throw notFound("site");
    const instant = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()));
    const filter = { source, severity, status, type, search, siteId, deviceId, since: instant(query.since), until: instant(query.until) };
    const descending = sort.startsWith("-");
    const field = (descending ? sort.slice(1) : sort) as keyof typeof SORT_COLUMNS;
    const positionOf = (row: AlertRow): Position => ({ value: String(row[SORT_COLUMNS[field]]), id: row.id });
    return { filter, order: { field, descending }, positionOf };
  };

  return {
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

    async read(tenantId, alertId) {
      const row = await store.byId(tenantId, alertId);
      if (!row) throw notFound("alert");
      return toAlert(row, await mutesOf(tenantId));
    },

    async acknowledge(actor, alertId) {
      const row = await store.change(actor.tenantId, alertId, async (trx, before) => {
        if (before.status === "resolved") throw new ApiError("CONFLICT", "the alert is resolved");
        if (before.status === "acknowledged") return null;
        await audit(trx, {
          actor, action: "alert.acknowledge", target: { type: "alert", id: alertId }, before: { status: before.status },
          after: { status: "acknowledged" },
        });
        return { status: "acknowledged", acknowledged_by: actor.name, acknowledged_at: now() };
      });
      if (!row) throw notFound("alert");
      return toAlert(row, await mutesOf(actor.tenantId));
    },

    async resolve(actor, alertId) {
      let fromSeq: number | null = null;
      const row = await store.change(actor.tenantId, alertId, async (trx, before) => {
        if (before.status === "resolved") return null;
        const at = now();
        const columns = { status: "resolved", open_key: null, quiet_at: null, resolved_by: actor.name, resolved_at: at };
        if (before.notified === 1) ({ fromSeq } = await deps.log.append(trx, actor.tenantId, [
          alertEvent({ ...before, ...columns }, at, at),
        ]));
        await audit(trx, {
          actor, action: "alert.resolve", target: { type: "alert", id: alertId }, before: { status: before.status },
          after: { status: "resolved" },
        });
        return columns;
      });
      if (!row) throw notFound("alert");
      if (fromSeq !== null) deps.published(actor.tenantId, fromSeq);
      return toAlert(row, await mutesOf(actor.tenantId));
    },

    async mutes(tenantId, page) {
      return pageOfAll((await mutesOf(tenantId)).map(toMute), page, ({ id }) => id);
    },

    async readMute(tenantId, muteId) {
      const mute = (await mutesOf(tenantId)).find(({ id }) => id === muteId);
      if (!mute) throw notFound("mute");
      return toMute(mute);
    },

    async mute(actor, { source, type, subject, site_id, reason, expires_at }) {
      const { tenantId } = actor;
      const lastsMs = Date.parse(expires_at) - clock.now();
      if (lastsMs <= 0 || lastsMs > MAX_MUTE_MS) throw badRequest([{ path: ["expires_at"], message: "within the next 366 days" }]);
      if (site_id !== undefined && !(await store.siteExists(tenantId, site_id))) throw notFound("site");
      if ((await mutesOf(tenantId)).length >= MAX_MUTES) throw new ApiError("CONFLICT", `there are ${MAX_MUTES} mutes already`);
      const row = {
        id: createId(), tenant_id: tenantId, source: source ?? null, type: type ?? null, subject: subject ?? null, site_id: site_id ?? null,
        reason,
        created_by: actor.name, created_at: now(), expires_at,
      };
      const mute = toMute(row);
      await store.addMute(row, (trx) => audit(trx, {
        actor, action: "alert_mute.create", target: { type: "alert_mute", id: row.id }, before: null, after: mute,
      }));
      return mute;
    },

    async unmute(actor, muteId) {
      const removed = await store.removeMute(actor.tenantId, muteId, (trx, mute) =>
        audit(trx, { actor, action: "alert_mute.delete", target: { type: "alert_mute", id: muteId }, before: toMute(mute), after: null }));
      if (!removed) throw notFound("mute");
    },
  };
}
