import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import { checkPrecondition } from "../../gateway/precondition.ts";
import { redact } from "./redact.ts";

/**
 * The one place where audit records are made, and so the one where secrets are taken out of them, and where every write of a
 * request passes in its transaction: a record that is not as `If-Match` says is not written.
 */
export function createAudit({ clock }: { readonly clock: Pick<Clock, "now"> }): Audit {
  return async (trx, { actor, action, target, before, after }) => {
    await checkPrecondition();
    await trx.insertInto("audit").values({
      id: createId(), tenant_id: actor.tenantId, at: toInstant(clock.now()), actor_type: actor.type, actor_id: actor.id,
      actor_name: actor.name, address: actor.address, action, target_type: target.type, target_id: target.id,
      before: before && JSON.stringify(redact(before)), after: after && JSON.stringify(redact(after)),
    }).execute();
  };
}
