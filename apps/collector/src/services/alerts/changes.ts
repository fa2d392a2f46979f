import type { Alert, AlertBulkChange, AlertBulkRequest, AlertDecision, BulkResult } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import { createRunBulk, selectionOf } from "../../gateway/bulk/bulk.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { addActions } from "./actions-store.ts";
import { type BulkMute, createBulkMute } from "./bulk-mutes.ts";
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

/** Alerts of one transaction. */
interface Some {
  readonly ids: readonly string[];
  readonly isUnflushed?: boolean;
}

/** What becomes of alerts, and why. */
interface Decision {
  readonly status: AlertDecision;
  readonly note: string;
}

/** Alerts of one transaction, in which events wait, and with which the disk gets those that end: some milliseconds. */
const PIECE = 25;
const ACTIONS = { acknowledged: "alert.acknowledge", resolved: "alert.resolve" } as const;

/** Acknowledges, resolves and mutes alerts, each change in the audit log. @param deps.conditions What a filter means. */
export function alertChanges(deps: AlertChangesDependencies & { readonly conditions: ReadConditions }): AlertChanges {
  const { store, conditions, clock, audit } = deps;
  const runBulk = createRunBulk();
  const now = () => toInstant(clock.now());

  /** One that is so already, or is over, is left as it is. */
  const decide = async (actor: Actor, wanted: Some, { status, note }: Decision) => {
    let fromSeq: number | null = null;
    let changed = 0;
    const rows = await store.change(actor.tenantId, wanted, async (trx, found) => {
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
  const muteSome = async (actor: Actor, wanted: Some, mute: BulkMute) => {
    let changed = 0;
    const rows = await store.change(actor.tenantId, wanted, async (trx, found) => {
      changed = await mute.mute(trx, found);
      return { ids: [], columns: {} };
    });
    return { rows, changed };
  };
  /** What a bulk change begins with, and what it does with some. */
  const stepsOf = (actor: Actor, { status = "acknowledged", muted_until: until, note }: AlertBulkChange) => {
    if (until === undefined) return { begin: () => Promise.resolve(), change: (wanted: Some) => decide(actor, wanted, { status, note }) };
    checkMuteEnd(until, clock.now(), ["change", "muted_until"]);
    const mute = createBulkMute(deps, { actor, until, note });
    return { begin: mute.begin, change: (wanted: Some) => muteSome(actor, wanted, mute) };
  };
  const changeOne = async (actor: Actor, alertId: string, status: AlertDecision) => {
    const { rows: [row] } = await decide(actor, { ids: [alertId] }, { status, note: "" });
    if (!row) throw notFound("alert");
    if (row.status !== status) throw new ApiError("CONFLICT", "the alert is resolved");
    return toAlert(row, await store.mutes(actor.tenantId, now()));
  };
  const selected = async (tenantId: string, { filter, ids }: AlertBulkRequest) => {
    if (ids !== undefined) return selectionOf(await store.idsAmong(tenantId, ids));
    const wanted = await conditions(tenantId, { filter });
    return { ids: () => store.ids(tenantId, wanted) };
  };

  return {
    acknowledge: (actor, alertId) => changeOne(actor, alertId, "acknowledged"),
    resolve: (actor, alertId) => changeOne(actor, alertId, "resolved"),

    async changeAll(actor, request) {
      const { change, expected_count: expectedCount, filter, ids } = request;
      const steps = stepsOf(actor, change);
      return runBulk(actor.tenantId, {
        ...await selected(actor.tenantId, request), expectedCount, pieceSize: PIECE,
        async begin(matched) {
          await steps.begin(matched);
          await store.write((trx) => audit(trx, {
            actor, action: "alert.bulk", target: { type: "alert", id: "" }, before: null,
            after: { ...(filter && { filter }), ...(ids && { ids }), count: expectedCount, change },
          }));
        },
        async change(piece, isLast) {
          // Nobody is answered before the last one, with which the disk gets all of them; what ends an alert is announced, and is there before.
          const { rows, changed } = await steps.change({ ids: piece, isUnflushed: !isLast && change.status !== "resolved" });
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
