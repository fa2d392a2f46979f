import type { IpamPrefix } from "@lanthorn/contract";
import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { toPrefix } from "./records.ts";
import { addToPlan } from "./store/plan-writes.ts";
import type { IpamStore, PrefixRow } from "./store/plan.ts";

/** What reads a prefix: the database, or a transaction that changes the plan. */
type From = IpamStore["reads"];

/** A change of a prefix, for the audit log. */
interface PrefixChange {
  readonly action: "create" | "update" | "delete";
  readonly id: string;
  readonly before: IpamPrefix | null;
  readonly after: IpamPrefix | null;
}

/** Prefixes of the plan, found, shown and added, in a transaction or outside. */
export interface PrefixRecords {
  /** @throws ApiError NOT_FOUND. */
  find(from: From, tenantId: string, id: string): Promise<PrefixRow>;
  /** As the API shows it, with the prefix that it lies in. */
  show(from: From, row: PrefixRow): Promise<IpamPrefix>;
  /** Adds a prefix, and records that in the audit log. @throws ApiError CONFLICT where it is recorded already. */
  insert(trx: Transaction<Schema>, actor: Actor, row: PrefixRow): Promise<IpamPrefix>;
  /** Records a change in the audit log. */
  audit(trx: Transaction<Schema>, actor: Actor, change: PrefixChange): Promise<void>;
}

/** Prefixes over the plan's store. */
export function createPrefixRecords({ store, audit }: { readonly store: IpamStore; readonly audit: Audit }): PrefixRecords {
  const records: PrefixRecords = {
    async find(from, tenantId, id) {
      const row = await store.prefix(from, tenantId, id);
      if (!row) throw notFound("prefix");
      return row;
    },
    async show(from, row) {
      const [parent = null] = await store.parents(from, row.tenant_id, [{ network: row.prefix, siteId: row.site_id, isPrefix: true }]);
      return toPrefix(row, parent);
    },
    async insert(trx, actor, row) {
      if (!(await addToPlan(trx, "ipam_prefixes", row))) throw new ApiError("CONFLICT", `${row.prefix} is already recorded`);
      const shown = await records.show(trx, row);
      await records.audit(trx, actor, { action: "create", id: row.id, before: null, after: shown });
      return shown;
    },
    audit: (trx, actor, { action, id, before, after }) =>
      audit(trx, { actor, action: `ipam_prefix.${action}`, target: { type: "ipam_prefix", id }, before, after }),
  };
  return records;
}
