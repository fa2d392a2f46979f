import type { Alert, AlertBulkChange, AlertBulkRequest, AlertDecision, BulkResult } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import { createRunBulk, selectionOf } from "../../gateway/bulk/bulk.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { addActions } from "./actions-store.ts";
import { checkRoomForMutes, muteAlerts } from "./bulk-mutes.ts";
import type { ReadConditions } from "./conditions.ts";
import { checkMuteEnd } from "./mutes.ts";
import { alertEvent } from "./reaction/reaction.ts";
import type { AlertRow } from "./reaction/store.ts";
import { toAlert } from "./records.ts";
import type { AlertsStore } from "./store.ts";

/** What people do with alerts. */
export interface AlertChanges {
  /** Somebody has seen it: it stays, and counts on. @throws ApiError NOT_FOUND; CONFLICT when it is resolved. */
  acknowledge(actor: Actor, alertId: string): Promise<Alert>;
  /** The matter is dealt with: the same again is a new alert. Once is enough; a second time changes nothing. @throws ApiError NOT_FOUND. */
  resolve(actor: Actor, alertId: string): Promise<Alert>;
  /**
   * @throws ApiError CONFLICT where another number matches than was expected, or mutes would be too many; BAD_REQUEST for a mute's end that
   * is past or too far; NOT_FOUND for a site that the tenant does not have.
   */
  changeAll(actor: Actor, request: AlertBulkRequest): Promise<BulkResult>;
}

/** What changing an alert needs. */
export interface AlertChangesDependencies {
  readonly store: AlertsStore;
  readonly log: Pick<EventLog, "append">;
  /** Reports to the live stream the committed events. */
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}

/** What becomes of alerts, and why. */
interface Decision {
  readonly status: AlertDecision;
  readonly note: string;
}

/** Alerts of one transaction, in which events wait, and with which the disk gets them: some milliseconds. */
const PIECE = 50;
const ACTIONS = { acknowledged: "alert.acknowledge", resolved: "alert.resolve" } as const;

/** Acknowledges, resolves and mutes alerts, each change in the audit log. @param deps.conditions What a filter means. */
export function alertChanges(deps: AlertChangesDependencies & { readonly conditions: ReadConditions }): AlertChanges {
  const { store, conditions, clock, audit } = deps;
  const runBulk = createRunBulk();
  const now = () => toInstant(clock.now());

  /** One that is so already, or is over, is left as it is. */
  const decide = async (actor: Actor, ids: readonly string[], { status, note }: Decision) => {
    let fromSeq: number | null = null;
    let changed = 0;
    const rows = await store.change(actor.tenantId, ids, async (trx, found) => {
      const at = now();
      const due = found.filter((row) => row.status !== "resolved" && row.status !== status);
      const columns = columnsOf(status, actor.name, at);
      const announced = status === "resolved" ? due.filter(({ notified }) => notified === 1) : [];
      if (announced.length > 0) ({ fromSeq } = await deps.log.append(trx, actor.tenantId, announced.map((row) => alertEvent({ ...row, ...columns }, at, at))));
      await addActions(trx, due.map(({ id }) => ({ id: createId(), alert_id: id, action: status, at, by_name: actor.name, note, muted_until: null })));
      await audit(trx, due.map((row) => ({
        actor, action: ACTIONS[status], target: { type: "alert", id: row.id }, before: { status: row.status }, after: { status, ...(note && { note }) },
      })));
      changed = due.length;
      return { ids: due.map(({ id }) => id), columns };
    });
    if (fromSeq !== null) deps.published(actor.tenantId, fromSeq);
    return { rows, changed };
  };
  const muteSome = async (actor: Actor, ids: readonly string[], mute: { readonly until: string; readonly note: string }) => {
    let changed = 0;
    const rows = await store.change(actor.tenantId, ids, async (trx, found) => {
      changed = await muteAlerts(trx, { actor, rows: found, mutes: await store.mutes(actor.tenantId, now(), trx), ...mute }, deps);
      return { ids: [], columns: {} };
    });
    return { rows, changed };
  };
  const changeSome = (actor: Actor, ids: readonly string[], { status, muted_until: until, note }: AlertBulkChange) =>
    (until === undefined ? decide(actor, ids, { status: status ?? "acknowledged", note }) : muteSome(actor, ids, { until, note }));
  const changeOne = async (actor: Actor, alertId: string, status: AlertDecision) => {
    const { rows: [row] } = await decide(actor, [alertId], { status, note: "" });
    if (!row) throw notFound("alert");
    if (row.status !== status) throw new ApiError("CONFLICT", "the alert is resolved");
    return toAlert(row, await store.mutes(actor.tenantId, now()));
  };
  const selected = async (tenantId: string, { filter, ids }: AlertBulkRequest) => {
    if (ids !== undefined) return selectionOf(await store.idsAmong(tenantId, ids));
    const wanted = await conditions(tenantId, { filter });
    return {
      count: () => store.count(tenantId, wanted), idsAfter: (after: string, limit: number) => store.idsAfter(tenantId, wanted, after, limit),
    };
  };

  return {
    acknowledge: (actor, alertId) => changeOne(actor, alertId, "acknowledged"),
    resolve: (actor, alertId) => changeOne(actor, alertId, "resolved"),

    async changeAll(actor, request) {
      const { change, expected_count: expectedCount, filter, ids } = request;
      if (change.muted_until !== undefined) checkMuteEnd(change.muted_until, clock.now(), ["change", "muted_until"]);
      return runBulk(actor.tenantId, {
        ...await selected(actor.tenantId, request), expectedCount, pieceSize: PIECE,
        async begin(matched) {
          if (change.muted_until !== undefined) await checkRoomForMutes(store, { tenantId: actor.tenantId, ids: matched, until: change.muted_until, now: now() });
          await store.write((trx) => audit(trx, {
            actor, action: "alert.bulk", target: { type: "alert", id: "" }, before: null,
            after: { ...(filter && { filter }), ...(ids && { ids }), count: expectedCount, change },
          }));
        },
        async change(piece) {
          const { rows, changed } = await changeSome(actor, piece, change);
          return { changed, gone: piece.length - rows.length };
        },
      });
    },
  };
}

function columnsOf(status: AlertDecision, name: string, at: string): Partial<AlertRow> {
  if (status === "acknowledged") return { status, acknowledged_by: name, acknowledged_at: at };
  return { status, open_key: null, quiet_at: null, resolved_by: name, resolved_at: at };
}
