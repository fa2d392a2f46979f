import { type Clock, createId, describeError, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { selectIn } from "../../../db/query/select-in.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Evidence } from "./evidence.ts";
import {
  addSoftware, endJudgments, findSoftware, type JudgmentRow, judgmentsAfter, putJudgments, putMatchedCves, setJudged, setUnreported, type SoftwareRow,
} from "./store/match-rows.ts";
import type { MatchThread } from "./thread/match-thread.ts";
import type { FreshJudgment } from "./thread/match-tasks.ts";

/** Software that is known: it has a row. */
export type KnownSoftware = Pick<SoftwareRow, "id" | "fingerprint" | "product">;

/** Judges software and writes what comes of it. */
export interface Judging {
  /** Judges evidence that was never judged. @returns Its software; null while there is no CVE database. */
  add(evidence: Evidence): Promise<KnownSoftware | null>;
  /** Judges software anew. @returns False where there is no CVE database. */
  again(software: Pick<SoftwareRow, "id" | "fingerprint" | "evidence">): Promise<boolean>;
}

/** Rows that are written in one transaction: some milliseconds. */
const CHUNK = 200;
const PAGE = 500;
/** Evidence that ends the thread so often is left without judgments. */
const MAX_FAILURES = 3;
/** CVEs that are known to be in `matched_cves`. */
const MAX_KNOWN = 200_000;

/** @param deps.known Ids of CVEs in `matched_cves`, to be emptied by whoever removes any. */
export function createJudging({ db, reads, thread, clock, log, known }: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly thread: Pick<MatchThread, "ask">; readonly clock: Pick<Clock, "now">;
  readonly log: Pick<Log, "error">; readonly known: Set<string>;
}): Judging {
  const failures = new Map<string, number>();

  const ask = async ({ fingerprint, evidence }: Pick<SoftwareRow, "fingerprint" | "evidence">) => {
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
  /** So that what is written after it can be shown. */
  const showCves = async (rows: readonly FreshJudgment[]) => {
    const unknown = rows.map(({ cve_id: id }) => id).filter((id) => !known.has(id));
    if (unknown.length === 0) return;
    const there = await selectIn(unknown, (list) => db.selectFrom("matched_cves").select("cve_id").where("cve_id", "in", list).execute());
    if (known.size > MAX_KNOWN) known.clear();
    for (const { cve_id: id } of there) known.add(id);
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
  return {
    async add({ text: evidence, fingerprint }) {
      const answer = await ask({ fingerprint, evidence });
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

const COMPARED = ["cpe", "version_range", "confidence", "status", "is_counted", "reasons", "remedies"] as const;

function isSame(old: JudgmentRow, row: FreshJudgment): boolean {
  return old.until === null && COMPARED.every((column) => old[column] === row[column]);
}
