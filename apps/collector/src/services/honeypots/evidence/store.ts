import type { Kysely, Selectable, Transaction } from "kysely";
import { selectIn } from "../../../db/query/select-in.ts";
import { upsertMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";

/** A transcript, a file or a fingerprint. */
export type EvidenceRow = Selectable<Schema["honeypot_evidence"]>;

/** What is kept of sessions at decoys. */
export interface EvidenceStore {
  /** Of these kinds, the oldest first. */
  of(sessionKey: string, kinds: readonly string[]): Promise<readonly EvidenceRow[]>;
  /** Forgets what was recorded before then, some hundreds. @returns How many. */
  forget(before: string, limit: number): Promise<number>;
}

/** Of one kind and session that are shown. */
const MAX_SHOWN = 200;

/** Over the collector's database. */
export function createEvidenceStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): EvidenceStore {
  return {
    of: (sessionKey, kinds) =>
      reads.selectFrom("honeypot_evidence").selectAll().where("session_key", "=", sessionKey).where("kind", "in", [...kinds]).orderBy("id").limit(MAX_SHOWN).execute(),
    async forget(before, limit) {
      const ids = await reads.selectFrom("honeypot_evidence").select("id").where("recorded_at", "<", before).orderBy("id").limit(limit).execute();
      await selectIn(ids.map(({ id }) => id), async (list) => {
        await db.deleteFrom("honeypot_evidence").where("id", "in", list).execute();
        return [];
      });
      return ids.length;
    },
  };
}

/** Writes what is new; what is reported again is the same. */
export async function putEvidence(trx: Transaction<Schema>, rows: readonly EvidenceRow[]): Promise<void> {
  await upsertMany(trx, "honeypot_evidence", { key: ["key"], update: ["recorded_at"] }, rows.map((row) => ({ ...row })));
}
