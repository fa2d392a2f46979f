import type { DnsList } from "@lanthorn/contract";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { notFound } from "../../../gateway/errors.ts";
import { toList } from "./records.ts";
import type { ListRow, ListsStore } from "./store.ts";

type Trx = Transaction<Schema>;

/** What an audit record is about. */
export function targetOf(id: string) {
  return { type: "dns_list", id };
}

/** How a tenant's list is found and changed. All throw ApiError NOT_FOUND. */
export function createListChanges({ store, audit }: { readonly store: ListsStore; readonly audit: Audit }) {
  const find = async (tenantId: string, id: string): Promise<ListRow> => {
    const row = await store.byId(null, tenantId, id);
    if (!row) throw notFound("list");
    return row;
  };
  const show = async (tenantId: string, id: string): Promise<DnsList> => {
    const row = await find(tenantId, id);
    return toList(row, await store.versions(null, id));
  };
  return {
    find, show,
    /** Changes a row under the tenant's lock, with an audit record of it. */
    async change(actor: Actor, id: string, action: string, work: (trx: Trx, row: ListRow) => Promise<Partial<ListRow>>): Promise<DnsList> {
      await store.locked(actor.tenantId, async (trx) => {
        const row = await store.byId(trx, actor.tenantId, id);
        if (!row) throw notFound("list");
        const columns = await work(trx, row);
        await store.set(trx, id, columns);
        const versions = await store.versions(trx, id);
        await audit(trx, { actor, action, target: targetOf(id), before: toList(row, versions), after: toList({ ...row, ...columns }, versions) });
      });
      return show(actor.tenantId, id);
    },
  };
}
