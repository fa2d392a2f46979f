import type { Alert } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { alertEvent } from "./reaction/reaction.ts";
import { toAlert } from "./records.ts";
import type { AlertsStore } from "./store.ts";

/** What people do with an alert. */
export interface AlertChanges {
  /** Somebody has seen it: it stays, and counts on. @throws ApiError NOT_FOUND; CONFLICT when it is resolved. */
  acknowledge(actor: Actor, alertId: string): Promise<Alert>;
  /** The matter is dealt with: the same again is a new alert. Once is enough; a second time changes nothing. @throws ApiError NOT_FOUND. */
  resolve(actor: Actor, alertId: string): Promise<Alert>;
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

/** Acknowledges and resolves alerts, each change in the audit log. */
export function alertChanges(deps: AlertChangesDependencies): AlertChanges {
  const { store, clock, audit } = deps;
  const now = () => toInstant(clock.now());
  return {
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
      return toAlert(row, await store.mutes(actor.tenantId, now()));
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
      return toAlert(row, await store.mutes(actor.tenantId, now()));
    },
  };
}
