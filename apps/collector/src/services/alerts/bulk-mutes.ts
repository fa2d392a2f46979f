import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { addActions, addMutes } from "./actions-store.ts";
import { checkMuteCount } from "./mutes.ts";
import { isMuted, type MuteRow } from "./reaction/mutes.ts";
import type { AlertRow } from "./reaction/store.ts";
import { toMute } from "./records.ts";

/** Who mutes alerts until when, and why. */
interface BulkMute {
  readonly actor: Actor;
  readonly rows: readonly AlertRow[];
  /** Those that count now. */
  readonly mutes: readonly MuteRow[];
  readonly until: string;
  readonly note: string;
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
  const lasting = mutes.filter(({ expires_at: end }) => end >= until);
  const made: MuteRow[] = [];
  const due = rows.filter((row) => !row.subject.endsWith("*") && !isMuted(lasting, row));
  for (const { source, type, subject, site_id } of due) {
    if (made.some((mute) => mute.source === source && mute.type === type && mute.subject === subject && mute.site_id === site_id)) continue;
    made.push({ id: createId(), tenant_id: actor.tenantId, source, type, subject, site_id, reason: note, created_by: actor.name, created_at: at, expires_at: until });
  }
  checkMuteCount(mutes.length + made.length);
  await addMutes(trx, made);
  await addActions(trx, due.map(({ id }) => ({ id: createId(), alert_id: id, action: "muted", at, by_name: actor.name, note, muted_until: until })));
  await audit(trx, made.map((mute) => ({
    actor, action: "alert_mute.create", target: { type: "alert_mute", id: mute.id }, before: null, after: toMute(mute),
  })));
  return due.length;
}
