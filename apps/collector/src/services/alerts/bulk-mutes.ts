import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import { inTurns } from "../../db/query/in-turns.ts";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { addActions, addMutes } from "./actions-store.ts";
import { checkMuteCount } from "./mutes.ts";
import { type AlertMatter, isMuted, type MuteRow } from "./reaction/mutes.ts";
import type { AlertRow } from "./reaction/store.ts";
import { toMute } from "./records.ts";
import type { AlertsStore } from "./store.ts";

/**
 * Mutes many alerts, each by its source, type, site and subject: of those that are alike, one mute is made. One that was muted for as long
 * when it began is left as it is, and so is one whose subject would stand for others too, since it ends with `*`.
 */
export interface BulkMute {
  /** Looks which of them need a mute, and that there is room for these. @throws ApiError CONFLICT for too many mutes. */
  begin(ids: readonly string[]): Promise<void>;
  /** @param rows Some of these alerts. @returns How many are now muted longer. @throws ApiError CONFLICT where others have made too many since it began. */
  mute(trx: Transaction<Schema>, rows: readonly AlertRow[]): Promise<number>;
}

/** Each is compared with all mutes: some milliseconds. */
const CHECKED_AT_ONCE = 250;

/** Nothing is muted yet. */
export function createBulkMute(
  { store, audit, clock }: { readonly store: AlertsStore; readonly audit: Audit; readonly clock: Pick<Clock, "now"> },
  { actor, until, note }: { readonly actor: Actor; readonly until: string; readonly note: string },
): BulkMute {
  const { tenantId } = actor;
  const made = new Set<string>();
  let lasting: readonly MuteRow[] = [];
  const isDue = (alert: AlertMatter) => !alert.subject.endsWith("*") && !isMuted(lasting, alert);
  return {
    async begin(ids) {
      const mutes = await store.mutes(tenantId, toInstant(clock.now()));
      lasting = mutes.filter(({ expires_at: end }) => end >= until);
      const keys = new Set<string>();
      for await (const piece of inTurns(ids, CHECKED_AT_ONCE)) {
        for (const matter of await store.mattersOf(tenantId, piece)) if (isDue(matter)) keys.add(keyOf(matter));
        checkMuteCount(mutes.length + keys.size);
      }
    },

    async mute(trx, rows) {
      const at = toInstant(clock.now());
      const due = rows.filter(isDue);
      const another = new Map(due.map((row) => [keyOf(row), row] as const).filter(([key]) => !made.has(key)));
      const mutes = [...another.values()].map(({ source, type, subject, site_id }): MuteRow => (
        { id: createId(), tenant_id: tenantId, source, type, subject, site_id, reason: note, created_by: actor.name, created_at: at, expires_at: until }
      ));
      if (mutes.length > 0) checkMuteCount(await store.countMutes(trx, tenantId, at) + mutes.length);
      await addMutes(trx, mutes);
      await addActions(trx, due.map(({ id }) => ({ id: createId(), alert_id: id, action: "muted", at, by_name: actor.name, note, muted_until: until })));
      await audit(trx, mutes.map((mute) => ({
        actor, action: "alert_mute.create", target: { type: "alert_mute", id: mute.id }, before: null, after: toMute(mute),
      })));
      for (const key of another.keys()) made.add(key);
      return due.length;
    },
  };
}

/** What those have in common that one mute is made of. */
function keyOf({ source, type, subject, site_id: siteId }: AlertMatter): string {
  return JSON.stringify([source, type, subject, siteId]);
}
