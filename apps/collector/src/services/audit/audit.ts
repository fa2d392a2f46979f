import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { limitGroup } from "../../gateway/http/address.ts";
import type { Audit, AuditEntry } from "../../gateway/audit.ts";
import { checkPrecondition } from "../../gateway/precondition.ts";
import { redact } from "./redact.ts";
import { addRecords, type AuditRecordRow } from "./store.ts";

const WINDOW_MS = 3_600_000;

/**
 * The one place where audit records are made, and so the one where secrets are taken out of them, and where every write of a
 * request passes in its transaction: a record that is not as `If-Match` says is not written.
 */
export function createAudit({ clock }: { readonly clock: Pick<Clock, "now"> }): Audit {
  const recordOf = (entry: AuditEntry): AuditRecordRow => {
    const { actor, action, target, before, after } = entry;
    return {
      id: createId(), tenant_id: actor.tenantId, at: toInstant(clock.now()), actor_type: actor.type, actor_id: actor.id,
      actor_name: actor.name, address: actor.address, action, target_type: target.type, target_id: target.id,
      before: before && JSON.stringify(redact(before)), after: after && JSON.stringify(redact(after)),
      window_key: entry.isCounted ? windowOf(entry, clock.now()) : null,
    };
  };
  return async (trx, entries) => {
    await checkPrecondition();
    await addRecords(trx, (Array.isArray(entries) ? entries as readonly AuditEntry[] : [entries as AuditEntry]).map(recordOf));
  };
}

/** What all that are counted as one have in common. */
function windowOf({ actor, action, target }: AuditEntry, now: number): string {
  return [
    actor.tenantId, action, actor.type, actor.id, limitGroup(actor.address), target.type, target.id, Math.floor(now / WINDOW_MS),
  ].join(" ");
}
