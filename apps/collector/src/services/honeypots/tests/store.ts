import type { Kysely, Selectable } from "kysely";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** The last test of a decoy. */
export type TestRow = Selectable<Schema["honeypot_tests"]>;

/** Tests of decoys. */
export interface TestsStore {
  transaction<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** Of a tenant. */
  all(tenantId: string): Promise<readonly TestRow[]>;
  put(trx: Transaction<Schema>, row: TestRow): Promise<void>;
  /** What became of a command; nothing where it was another one. */
  answer(probeId: string, commandId: string, answer: Pick<TestRow, "status" | "error" | "session_key">): Promise<void>;
}

/** Over the collector's database. */
export function createTestsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): TestsStore {
  return {
    transaction: (work) => db.transaction().execute(work),
    all: (tenantId) => reads.selectFrom("honeypot_tests").selectAll().where("tenant_id", "=", tenantId).execute(),
    async put(trx, row) {
      const { honeypot_id: _, ...change } = row;
      await trx.insertInto("honeypot_tests").values(row).onConflict((conflict) => conflict.column("honeypot_id").doUpdateSet(change)).execute();
    },
    async answer(probeId, commandId, answer) {
      await db.updateTable("honeypot_tests").set(answer).where("probe_id", "=", probeId).where("command_id", "=", commandId).execute();
    },
  };
}
