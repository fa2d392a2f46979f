import { type AuditQuery, type AuditRecord, Id, type List, momentToInstant } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import { badRequest } from "../../gateway/route.ts";
import type { AuditRow, AuditStore } from "./store.ts";

export interface AuditService {
  /** @throws ApiError BAD_REQUEST for a cursor of another list. */
  list(tenantId: string, query: AuditQuery): Promise<List<AuditRecord>>;
}

export function createAuditService({ store, clock }: { readonly store: AuditStore; readonly clock: Pick<Clock, "now"> }): AuditService {
  return {
    async list(tenantId, { page, per_page: perPage, cursor, since, until, actor, action, target }) {
      if (cursor !== undefined && !Id.safeParse(cursor).success) throw badRequest([{ path: ["cursor"], message: "not a cursor of this list" }]);
      const instant = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()));
      const filter = { actor, action, target, since: instant(since), until: instant(until) };
      const rows = await store.list(tenantId, filter, { from: cursor ?? (page - 1) * perPage, limit: perPage + 1 });
      const data = rows.slice(0, perPage);
      return {
        data: data.map(toRecord),
        meta: { page, per_page: perPage, total: await store.count(tenantId, filter), next_cursor: rows.length > perPage ? (data.at(-1)?.id ?? null) : null },
      };
    },
  };
}

function toRecord(row: AuditRow): AuditRecord {
  return {
    id: row.id, at: row.at, action: row.action,
    actor: { type: row.actor_type as AuditRecord["actor"]["type"], id: row.actor_id, name: row.actor_name, address: row.address },
    target: { type: row.target_type, id: row.target_id },
    before: fromJson(row.before), after: fromJson(row.after),
  };
}

function fromJson(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}
