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

/** Who mutes alerts until when, and why. */
interface BulkMute {
  readonly actor: Actor;
  readonly rows: readonly AlertRow[];
  /** Those that count now. */
  readonly mutes: readonly MuteRow[];
  readonly until: string;
  readonly note: string;
}

/** Each is compared with all mutes: some milliseconds. */
const CHECKED_AT_ONCE = 250;

/**
 * That there is room for all mutes that `muteAlerts` would make of these alerts, before the first is made.
 * @param ids Of alerts; all are compared with the mutes that count now. @throws ApiError CONFLICT for too many mutes.
 */
export async function checkRoomForMutes(store: AlertsStore, { tenantId, ids, until, now }: {
  readonly tenantId: string; readonly ids: readonly string[]; readonly until: string; readonly now: string;
}): Promise<void> {
  const mutes = await store.mutes(tenantId, now);
  const due = dueFor(mutes, until);
  const keys = new Set<string>();
  for await (const piece of inTurns(ids, CHECKED_AT_ONCE)) {
    for (const matter of await store.mattersOf(tenantId, piece)) if (due(matter)) keys.add(keyOf(matter));
    checkMuteCount(mutes.length + keys.size);
  }
}

/**
 * Mutes alerts, each by its source, type, site and subject: of those that are alike, one mute is made. One that is muted for as long
 * already is left as it is, and so is one whose subject would stand for others too, since it ends with `*`.
 * @returns How many are now muted longer. @throws ApiError CONFLICT for too many mutes.
 */
export async function muteAlerts(
  trx: Transaction<Schema>, { actor, rows, mutes, until, note }: BulkMute, { audit, clock }: { readonly audit: Audit; readonly clock: Pick<Clock, "now"> },
): Promise<number> {
  const at = toInstant(clock.now());
  const due = rows.filter(dueFor(mutes, until));
  const made = [...new Map(due.map((row) => [keyOf(row), row])).values()].map(({ source, type, subject, site_id }): MuteRow => (
    { id: createId(), tenant_id: actor.tenantId, source, type, subject, site_id, reason: note, created_by: actor.name, created_at: at, expires_at: until }
  ));
  checkMuteCount(mutes.length + made.length);
  await addMutes(trx, made);
  await addActions(trx, due.map(({ id }) => ({ id: createId(), alert_id: id, action: "muted", at, by_name: actor.name, note, muted_until: until })));
  await audit(trx, made.map((mute) => ({
    actor, action: "alert_mute.create", target: { type: "alert_mute", id: mute.id }, before: null, after: toMute(mute),
  })));
  return due.length;
}

/** Whether an alert needs a mute until then. */
function dueFor(mutes: readonly MuteRow[], until: string): (alert: AlertMatter) => boolean {
  const lasting = mutes.filter(({ expires_at: end }) => end >= until);
  return (alert) => !alert.subject.endsWith("*") && !isMuted(lasting, alert);
}

/** What those have in common that one mute is made of. */
function keyOf({ source, type, subject, site_id: siteId }: AlertMatter): string {
  return JSON.stringify([source, type, subject, siteId]);
}
