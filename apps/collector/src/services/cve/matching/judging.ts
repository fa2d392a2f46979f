import { type Clock, createId, describeError, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { commitUnflushed } from "../../../db/query/unflushed.ts";
import type { Schema } from "../../../db/schema.ts";
import { CollectorError } from "../../../errors.ts";
import type { Evidence } from "./evidence.ts";
import { type JudgmentRow, judgmentsAfter, setJudged, type SoftwareRow } from "./store/match-rows.ts";
import type { FreshJudgment } from "./thread/match-tasks.ts";
import type { MatchThread } from "./thread/match-thread.ts";
import { createJudgmentWriter, type JudgedSoftware, TOGETHER } from "./write-judgments.ts";

/** Software that is known: it has a row. */
export type KnownSoftware = Pick<SoftwareRow, "id" | "fingerprint" | "product">;

/** Judges software and writes what comes of it. */
export interface Judging {
  /**
   * Judges evidence that was never judged, several in a transaction. Where it fails, what was written stays.
   * @param evidence None twice.
   * @returns The software of all, in their order; null while there is no CVE database.
   */
  add(evidence: readonly Evidence[]): Promise<readonly KnownSoftware[] | null>;
  /** Lets the thread judge what is to be added next, while the last is written. What was begun before and not added is forgotten. */
  begin(evidence: readonly Evidence[]): void;
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
  const { addAll, write } = createJudgmentWriter(deps);
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
  let begun: ReadonlyMap<string, ReturnType<typeof ask>> = new Map();
  const askAll = (all: readonly Evidence[]) => new Map(all.map(({ fingerprint, text }) => {
    const answer = begun.get(fingerprint) ?? ask({ fingerprint, evidence: text });
    // Whoever adds it hears of a failure.
    answer.catch(() => {});
    return [fingerprint, answer] as const;
  }));
  return {
    begin(all) {
      begun = askAll(all);
    },
    async add(all) {
      const answers = askAll(all);
      const added: KnownSoftware[] = [];
      const waiting: JudgedSoftware[] = [];
      const flush = async () => void added.push(...await addAll(waiting.splice(0)));
      for (const { text: evidence, fingerprint } of all) {
        const answer = await answers.get(fingerprint);
        if (!answer) return null;
        const { judged, fresh } = answer;
        const rows = waiting.reduce((sum, one) => sum + one.fresh.length, fresh.length);
        if (rows > TOGETHER) await flush();
        waiting.push({ row: { id: createId(), fingerprint, evidence, ...judged, judged_at: toInstant(clock.now()), is_reported: 1 }, fresh });
      }
      await flush();
      return added;
    },
    async again({ id, fingerprint, evidence }) {
      const answer = await ask({ fingerprint, evidence });
      if (answer === null) return false;
      const { judged: { product: _, ...judged }, fresh } = answer;
      await write(id, await readBefore(id), fresh);
      await commitUnflushed(db, (trx) => setJudged(trx, [{ id, ...judged, judged_at: toInstant(clock.now()) }]));
      return true;
    },
  };
}

/** Asks the thread, and asks no more about evidence that ends it. */
function createQuestions({ thread, log }: JudgingDependencies) {
  const failures = new Map<string, number>();
  return async ({ fingerprint, evidence }: Pick<SoftwareRow, "fingerprint" | "evidence">) => {
    for (;;) {
      const fresh: FreshJudgment[] = [];
      try {
        const judged = await thread.ask("judge", { evidence }, (part) => void fresh.push(...part));
        failures.delete(fingerprint);
        return judged && { judged, fresh };
      } catch (error) {
        // Other evidence ended the thread.
        if (error instanceof CollectorError && error.code === "cve-match-interrupted") continue;
        const times = (failures.get(fingerprint) ?? 0) + 1;
        if (failures.size > PAGE) failures.clear();
        failures.set(fingerprint, times);
        if (times < MAX_FAILURES) throw error;
        log.error({ evidence: evidence.slice(0, PAGE), reason: describeError(error) }, "software cannot be judged: its CVEs stay unknown until the next update of the CVE database");
        const version = await thread.ask("version", null);
        return version && { judged: { ...version, basis: "", product: "" }, fresh: [] };
      }
    }
  };
}
