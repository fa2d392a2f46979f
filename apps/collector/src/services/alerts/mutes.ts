import type { AlertMute, AlertMuteCreate, List } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../gateway/errors.ts";
import { type IdPage, pageOfAll } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import { toMute } from "./records.ts";
import type { AlertsStore } from "./store.ts";

/** Mutes of alerts. */
export interface AlertMutes {
  /** Those that count now, oldest first. */
  mutes(tenantId: string, page: IdPage): Promise<List<AlertMute>>;
  /** @throws ApiError NOT_FOUND, also for one that has expired. */
  readMute(tenantId: string, muteId: string): Promise<AlertMute>;
  /** @throws ApiError BAD_REQUEST for an end that is past or too far; NOT_FOUND for a site; CONFLICT when there are too many. */
  mute(actor: Actor, mute: AlertMuteCreate): Promise<AlertMute>;
  /** @throws ApiError NOT_FOUND. */
  unmute(actor: Actor, muteId: string): Promise<void>;
}

/** What keeping mutes needs. */
export interface AlertMutesDependencies {
  readonly store: AlertsStore;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}

/** A mute for ever is forgotten; this one is renewed by who still wants it. */
const MAX_MUTE_MS = 366 * 86_400_000;
/** All are compared with every alert. */
const MAX_MUTES = 1000;

/** @param path Where the request says when it ends. @throws ApiError BAD_REQUEST for an end that is past or too far. */
export function checkMuteEnd(endsAt: string, now: number, path: readonly string[]): void {
  const lastsMs = Date.parse(endsAt) - now;
  if (lastsMs <= 0 || lastsMs > MAX_MUTE_MS) throw badRequest([{ path: [...path], message: "within the next 366 days" }]);
}

/** @param count How many there would be. @throws ApiError CONFLICT for too many. */
export function checkMuteCount(count: number): void {
  if (count > MAX_MUTES) throw new ApiError("CONFLICT", `there may be ${MAX_MUTES} mutes: end some, or mute a source, a type or a site`);
}

/** Lists mutes, creates and removes them. */
export function alertMutes({ store, audit, clock }: AlertMutesDependencies): AlertMutes {
  const now = () => toInstant(clock.now());
  const mutesOf = (tenantId: string) => store.mutes(tenantId, now());

  return {
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
      checkMuteEnd(expires_at, clock.now(), ["expires_at"]);
      await requireSite(store, tenantId, site_id);
      const row = {
        id: createId(), tenant_id: tenantId, source: source ?? null, type: type ?? null, subject: subject ?? null, site_id: site_id ?? null,
        reason,
        created_by: actor.name, created_at: now(), expires_at,
      };
      const mute = toMute(row);
      await store.addMute(row, async (trx) => {
        checkMuteCount(await store.countMutes(trx, tenantId, row.created_at));
        await audit(trx, { actor, action: "alert_mute.create", target: { type: "alert_mute", id: row.id }, before: null, after: mute });
      });
      return mute;
    },

    async unmute(actor, muteId) {
      const removed = await store.removeMute(actor.tenantId, muteId, (trx, mute) =>
        audit(trx, { actor, action: "alert_mute.delete", target: { type: "alert_mute", id: muteId }, before: toMute(mute), after: null }));
      if (!removed) throw notFound("mute");
    },
  };
}
