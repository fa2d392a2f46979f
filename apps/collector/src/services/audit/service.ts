import { type AuditQuery, type AuditRecord, type List, momentToInstant } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import { pageById } from "../../gateway/page.ts";
import type { AuditRow, AuditStore } from "./store.ts";

/** A tenant's audit records, newest first, one page at a time. */
export interface AuditService {
  list(tenantId: string, query: AuditQuery): Promise<List<AuditRecord>>;
}

/** `since` and `until` of a query are instants, or durations back from the clock's now. */
export function createAuditService({ store, clock }: { readonly store: AuditStore; readonly clock: Pick<Clock, "now"> }): AuditService {
  return {
    list(tenantId, { since, until, actor, action, target, ...page }) {
      const instant = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()));
      const filter = { actor, action, target, since: instant(since), until: instant(until) };
      return pageById(page, {
        read: (rows) => store.list(tenantId, filter, rows), count: () => store.count(tenantId, filter), show: toRecord,
      });
    },
  };
}

function toRecord(row: AuditRow): AuditRecord {
  return {
    id: row.id, at: row.at, action: row.action,
    actor: { type: row.actor_type as AuditRecord["actor"]["type"], id: row.actor_id, name: row.actor_name, address: row.address },
    target: { type: row.target_type, id: row.target_id },
    before: fromJson(row.before),
    after: row.times > 1 ? { count: row.times, last_at: row.last_at } : fromJson(row.after),
  };
}

function fromJson(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}
