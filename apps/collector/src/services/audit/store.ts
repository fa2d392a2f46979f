import { type Insertable, type ExpressionBuilder, type Kysely, type Selectable, sql } from "kysely";
import { insertMany } from "../../db/query/write-many.ts";
import type { Schema } from "../../db/schema.ts";
import type { Rows } from "../../gateway/page.ts";

/** `before` and `after` are JSON text. `times` above 1 means repeated events that are counted in one row, the last at `last_at`. */
export type AuditRow = Selectable<Schema["audit"]>;

interface AuditFilter {
  readonly actor: string | undefined;
  readonly action: string | undefined;
  readonly target: string | undefined;
  /** From this instant on, and before that one. */
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** Audit rows that match a filter. An actor matches by id or name, a target by id or type, an action also by its prefix up to a dot. */
export interface AuditStore {
  /** Newest first. */
  list(tenantId: string, filter: AuditFilter, rows: Rows): Promise<readonly AuditRow[]>;
  count(tenantId: string, filter: AuditFilter): Promise<number>;
}

/** Reads committed rows only. `addRecords` writes them. */
export function createAuditStore({ reads }: { readonly reads: Kysely<Schema> }): AuditStore {
  return {
    list(tenantId, filter, { from, limit }) {
      const query = reads.selectFrom("audit").selectAll().where((eb) => matches(eb, tenantId, filter)).orderBy("id", "desc").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", "<", from)).execute();
    },
    async count(tenantId, filter) {
      const row = await reads.selectFrom("audit").select((eb) => eb.fn.countAll<number>().as("total"))
        .where((eb) => matches(eb, tenantId, filter)).executeTakeFirstOrThrow();
      return row.total;
    },
  };
}

function matches(eb: ExpressionBuilder<Schema, "audit">, tenantId: string, { actor, action, target, since, until }: AuditFilter) {
  const all = [eb("tenant_id", "=", tenantId)];
  if (actor !== undefined) all.push(eb.or([eb("actor_id", "=", actor), eb("actor_name", "=", actor)]));
  if (action !== undefined) all.push(eb.or([eb("action", "=", action), beginsWith(eb, `${action}.`)]));
  if (target !== undefined) all.push(eb.or([eb("target_id", "=", target), eb("target_type", "=", target)]));
  if (since !== undefined) all.push(eb("at", ">=", since));
  if (until !== undefined) all.push(eb("at", "<", until));
  return eb.and(all);
}

/** Not LIKE, in which `_` stands for any letter. */
function beginsWith(eb: ExpressionBuilder<Schema, "audit">, text: string) {
  return eb(eb.fn<string>("substr", ["action", sql.lit(1), sql.lit(text.length)]), "=", text);
}

/** A record as it is added. */
export type AuditRecordRow = Insertable<Schema["audit"]>;

/** Adds records; one of a window that is there is counted with it. */
export async function addRecords(trx: Kysely<Schema>, rows: readonly AuditRecordRow[]): Promise<void> {
  await insertMany(trx, "audit", rows.filter(({ window_key: key }) => key === null));
  for (const row of rows) {
    if (row.window_key === null) continue;
    await trx.insertInto("audit").values(row)
      .onConflict((conflict) => conflict.column("window_key").doUpdateSet((eb) => ({ times: eb("audit.times", "+", 1), last_at: row.at })))
      .execute();
  }
}
