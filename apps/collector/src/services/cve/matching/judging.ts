import { type Clock, createId, describeError, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Evidence } from "./evidence.ts";
import { addSoftware, findSoftware, type JudgmentRow, judgmentsAfter, putJudgments, setJudged, type SoftwareRow } from "./store/match-rows.ts";
import type { FreshJudgment } from "./thread/match-tasks.ts";
import type { MatchThread } from "./thread/match-thread.ts";
import { CHUNK, createJudgmentWriter } from "./write-judgments.ts";

/** Software that is known: it has a row. */
export type KnownSoftware = Pick<SoftwareRow, "id" | "fingerprint" | "product">;

/** Judges software and writes what comes of it. */
export interface Judging {
  /** Judges evidence that was never judged. @returns Its software; null while there is no CVE database. */
  add(evidence: Evidence): Promise<KnownSoftware | null>;
  /** Lets the thread judge what is to be added next, while the last is written. Null: what was begun is not added. */
  begin(evidence: Evidence | null): void;
  /** Judges software anew. @returns False where there is no CVE database. */
  again(software: Pick<SoftwareRow, "id" | "fingerprint" | "evidence">): Promise<boolean>;
}

/** What judging needs. */
interface JudgingDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly thread: Pick<MatchThread, "ask">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Pick<Log, "error">;
  /** Ids of CVEs in `matched_cves`, to be emptied by whoever removes any. */
  readonly known: Set<string>;
}

const PAGE = 500;
/** Evidence that ends the thread so often is left without judgments. */
const MAX_FAILURES = 3;

/** Judges by the thread. */
export function createJudging(deps: JudgingDependencies): Judging {
  const { db, reads, clock } = deps;
  const ask = createQuestions(deps);
  const { showCves, write } = createJudgmentWriter(deps);
  const readBefore = async (id: string) => {
    const before = new Map<string, JudgmentRow>();
    for (let after = ""; ;) {
      const page = await judgmentsAfter(reads, id, { after, limit: PAGE });
      for (const row of page) before.set(row.cve_id, row);
      if (page.length < PAGE) return before;
      after = page.at(-1)?.cve_id ?? "";
      await nextTurn();
    }
  };
  let begun: { readonly fingerprint: string; readonly answer: ReturnType<typeof ask> } | null = null;
  return {
    begin(evidence) {
      begun = evidence && { fingerprint: evidence.fingerprint, answer: ask({ fingerprint: evidence.fingerprint, evidence: evidence.text }) };
      // Whoever adds it hears of a failure.
      begun?.answer.catch(() => {});
    },
    async add({ text: evidence, fingerprint }) {
      const asked = begun?.fingerprint === fingerprint ? begun.answer : ask({ fingerprint, evidence });
      begun = null;
      const answer = await asked;
      if (answer === null) return null;
      const { judged: { product, ...judged }, fresh } = answer;
      const at = toInstant(clock.now());
      const row = { id: createId(), fingerprint, evidence, product, ...judged, judged_at: at, is_reported: 1 };
      await showCves(fresh.slice(0, CHUNK));
      if (fresh.length <= CHUNK) {
        const id = await db.transaction().execute(async (trx) => {
          await addSoftware(trx, [row]);
          // Another replica may have been first, with a row and judgments of its own.
          const [there = row] = await findSoftware(trx, [fingerprint]);
          if (there.id === row.id) await putJudgments(trx, fresh.map((one) => ({ software_id: row.id, ...one, since: at, until: null })));
          return there.id;
        });
        return { id, fingerprint, product };
      }
      await db.transaction().execute((trx) => addSoftware(trx, [{ ...row, lineage: "", generation: 0 }]));
      const [{ id } = row] = await findSoftware(db, [fingerprint]);
      await write(id, new Map(), fresh);
      await db.transaction().execute((trx) => setJudged(trx, [{ id, ...judged, judged_at: at }]));
      return { id, fingerprint, product };
    },
    async again({ id, fingerprint, evidence }) {
      const answer = await ask({ fingerprint, evidence });
      if (answer === null) return false;
      const { judged: { product: _, ...judged }, fresh } = answer;
      await write(id, await readBefore(id), fresh);
      await db.transaction().execute((trx) => setJudged(trx, [{ id, ...judged, judged_at: toInstant(clock.now()) }]));
      return true;
    },
  };
}

/** Asks the thread, and asks no more about evidence that ends it. */
function createQuestions({ thread, log }: JudgingDependencies) {
  const failures = new Map<string, number>();
  return async ({ fingerprint, evidence }: Pick<SoftwareRow, "fingerprint" | "evidence">) => {
    const fresh: FreshJudgment[] = [];
    try {
      const judged = await thread.ask("judge", { evidence }, (part) => void fresh.push(...part));
      failures.delete(fingerprint);
      return judged && { judged, fresh };
    } catch (error) {
      const times = (failures.get(fingerprint) ?? 0) + 1;
      if (failures.size > PAGE) failures.clear();
      failures.set(fingerprint, times);
      if (times < MAX_FAILURES) throw error;
      log.error({ evidence: evidence.slice(0, PAGE), reason: describeError(error) }, "software cannot be judged: its CVEs stay unknown until the next update of the CVE database");
      const version = await thread.ask("version", null);
      return version && { judged: { ...version, basis: "", product: "" }, fresh: [] };
    }
  };
}
