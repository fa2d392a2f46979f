import { type Clock, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { endJudgments, type JudgmentRow, putJudgments, putMatchedCves, setUnreported, shownCves } from "./store/match-rows.ts";
import type { FreshJudgment } from "./thread/match-tasks.ts";
import type { MatchThread } from "./thread/match-thread.ts";

/** Writes what the thread has judged. */
interface JudgmentWriter {
  /** Writes what is shown of CVEs, so that judgments of them can be shown. */
  showCves(rows: readonly FreshJudgment[]): Promise<void>;
  /** Writes judgments of software where they differ from those before, in transactions of some milliseconds. */
  write(softwareId: string, before: ReadonlyMap<string, JudgmentRow>, fresh: readonly FreshJudgment[]): Promise<void>;
}

/** Rows that are written in one transaction. */
export const CHUNK = 400;
/** CVEs that are known to be in `matched_cves`. */
const MAX_KNOWN = 200_000;

/** @param deps.known Ids of CVEs in `matched_cves`. */
export function createJudgmentWriter({ db, thread, clock, known }: {
  readonly db: Kysely<Schema>; readonly thread: Pick<MatchThread, "ask">; readonly clock: Pick<Clock, "now">; readonly known: Set<string>;
}): JudgmentWriter {
  /** So that what is written after it can be shown. */
  const showCves = async (rows: readonly FreshJudgment[]) => {
    const unknown = rows.map(({ cve_id: id }) => id).filter((id) => !known.has(id));
    if (unknown.length === 0) return;
    const there = await shownCves(db, unknown);
    if (known.size > MAX_KNOWN) known.clear();
    for (const id of there) known.add(id);
    const missing = unknown.filter((id) => !known.has(id));
    const facts = missing.length === 0 ? [] : await thread.ask("facts", { ids: missing }) ?? [];
    await db.transaction().execute((trx) => putMatchedCves(trx, facts));
    for (const id of missing) known.add(id);
  };
  const write = async (id: string, before: ReadonlyMap<string, JudgmentRow>, fresh: readonly FreshJudgment[]) => {
    const at = toInstant(clock.now());
    const put = fresh.flatMap((row) => {
      const old = before.get(row.cve_id);
      return old !== undefined && isSame(old, row) ? [] : [{ software_id: id, ...row, since: old?.since ?? at, until: null }];
    });
    const holds = new Set(fresh.map(({ cve_id: cve }) => cve));
    const gone = [...before.values()].filter((row) => row.until === null && !holds.has(row.cve_id));
    const isNews = put.some((row) => row.is_counted === 1 || before.get(row.cve_id)?.is_counted === 1) || gone.some((row) => row.is_counted === 1);
    for (let from = 0; from < put.length; from += CHUNK) {
      const part = put.slice(from, from + CHUNK);
      await showCves(part);
      await db.transaction().execute(async (trx) => {
        if (isNews) await setUnreported(trx, id);
        await putJudgments(trx, part);
      });
      await nextTurn();
    }
    for (let from = 0; from < gone.length; from += CHUNK) {
      await db.transaction().execute(async (trx) => {
        if (isNews) await setUnreported(trx, id);
        await endJudgments(trx, gone.slice(from, from + CHUNK), at);
      });
      await nextTurn();
    }
  };
  return { showCves, write };
}

const COMPARED = ["cpe", "version_range", "confidence", "status", "is_counted", "reasons", "remedies"] as const;

function isSame(old: JudgmentRow, row: FreshJudgment): boolean {
  return old.until === null && COMPARED.every((column) => old[column] === row[column]);
}
