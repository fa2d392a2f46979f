import type { Kysely, Selectable, Transaction } from "kysely";
import { selectIn } from "../../../db/query/select-in.ts";
import { upsertMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";

/** A transcript, a file or a fingerprint. */
export type EvidenceRow = Selectable<Schema["honeypot_evidence"]>;

/** What is kept of sessions at decoys. */
export interface EvidenceStore {
  transaction<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** Of these kinds, the oldest first, but transcripts. */
  of(sessionKey: string, kinds: readonly string[]): Promise<readonly EvidenceRow[]>;
  /** Transcripts behind that of the id `after`, the oldest first: as many as an answer has room for, one at least. */
  transcripts(sessionKey: string, after: string | undefined): Promise<{ readonly rows: readonly EvidenceRow[]; readonly hasMore: boolean }>;
}

/** Of one kind and session that are shown. */
const MAX_SHOWN = 200;
/** Of the transcripts of one answer, as JSON. One has 6 for each of its 65,536 characters at most. */
const MAX_SHOWN_OCTETS = 1_000_000;

/** Over the collector's database. */
export function createEvidenceStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): EvidenceStore {
  return {
    transaction: (work) => db.transaction().execute(work),
    of: (sessionKey, kinds) =>
      reads.selectFrom("honeypot_evidence").selectAll().where("session_key", "=", sessionKey).where("kind", "in", [...kinds]).orderBy("id").limit(MAX_SHOWN).execute(),
    async transcripts(sessionKey, after) {
      const ofSession = reads.selectFrom("honeypot_evidence").where("session_key", "=", sessionKey).where("kind", "=", "transcript");
      const lengths = await (after === undefined ? ofSession : ofSession.where("id", ">", after)).select(["id", "octets"]).orderBy("id").limit(MAX_SHOWN + 1).execute();
      let room = MAX_SHOWN_OCTETS;
      const tooMany = lengths.findIndex(({ octets }, place) => place === MAX_SHOWN || ((room -= octets) < 0 && place > 0));
      const shown = tooMany < 0 ? lengths : lengths.slice(0, tooMany);
      const rows = await selectIn(shown.map(({ id }) => id), (list) => reads.selectFrom("honeypot_evidence").selectAll().where("id", "in", list).orderBy("id").execute());
      return { rows, hasMore: tooMany >= 0 };
    },
  };
}

/** Writes what is new; what is reported again is the same. */
export async function putEvidence(trx: Transaction<Schema>, rows: readonly EvidenceRow[]): Promise<void> {
  await upsertMany(trx, "honeypot_evidence", { key: ["key"], update: [] }, rows.map((row) => ({ ...row })));
}
