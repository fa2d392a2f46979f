import { type Clock, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import { commitUnflushed } from "../../../db/query/unflushed.ts";
import type { Schema } from "../../../db/schema.ts";
import {
  addSoftware, endJudgments, findSoftware, type JudgmentRow, type MatchedCveRow, putJudgments, putMatchedCves, setJudged, setUnreported, shownCves, type SoftwareRow,
} from "./store/match-rows.ts";
import type { FreshJudgment } from "./thread/match-tasks.ts";
import type { MatchThread } from "./thread/match-thread.ts";

/** Software that was judged for the first time. */
export interface JudgedSoftware {
  readonly row: SoftwareRow;
  readonly fresh: readonly FreshJudgment[];
}

/** Writes what the thread has judged. */
interface JudgmentWriter {
  /** Writes software with its judgments, in one transaction where that is short. @returns The software in its order, as another replica may have added it. */
  addAll(all: readonly JudgedSoftware[]): Promise<readonly Pick<SoftwareRow, "id" | "fingerprint" | "product">[]>;
  /** Writes judgments of software where they differ from those before, in transactions of some milliseconds. */
  write(softwareId: string, before: ReadonlyMap<string, JudgmentRow>, fresh: readonly FreshJudgment[]): Promise<void>;
}

/** Judgments that are written in one transaction: each is a page of the index by CVEs, and their commit holds the event loop for some milliseconds. */
const CHUNK = 600;
/** Judgments of several pieces of software that are written in one transaction: the thread judges the next ones meanwhile. */
export const TOGETHER = 256;
/** And between two turns of the event loop: one or two milliseconds. */
const TURN = 64;
/** CVEs that are known to be in `matched_cves`. */
const MAX_KNOWN = 200_000;

/** @param deps.known Ids of CVEs in `matched_cves`. */
export function createJudgmentWriter({ db, thread, clock, known }: {
  readonly db: Kysely<Schema>; readonly thread: Pick<MatchThread, "ask">; readonly clock: Pick<Clock, "now">; readonly known: Set<string>;
}): JudgmentWriter {
  /** What is shown of CVEs and is not in `matched_cves` yet. */
  const unshown = async (rows: readonly FreshJudgment[]): Promise<readonly MatchedCveRow[]> => {
    const unknown = [...new Set(rows.map(({ cve_id: id }) => id))].filter((id) => !known.has(id));
    if (unknown.length === 0) return [];
    const there = await shownCves(db, unknown);
    if (known.size > MAX_KNOWN) known.clear();
    for (const id of there) known.add(id);
    const missing = unknown.filter((id) => !known.has(id));
    const facts: MatchedCveRow[] = [];
    for (let from = 0; from < missing.length; from += TURN) facts.push(...await thread.ask("facts", { ids: missing.slice(from, from + TURN) }) ?? []);
    return facts;
  };
  /** A transaction that writes judgments, and before them what is shown of their CVEs. */
  const putAll = async (rows: readonly FreshJudgment[], work: (trx: Transaction<Schema>) => Promise<readonly (() => JudgmentRow)[]>) => {
    const facts = await unshown(rows);
    await commitUnflushed(db, async (trx) => {
      await putMatchedCves(trx, facts);
      const judgments = await work(trx);
      for (let from = 0; from < judgments.length; from += TURN) {
        await putJudgments(trx, judgments.slice(from, from + TURN).map((row) => row()));
        if (judgments.length > TURN) await nextTurn();
      }
    });
    for (const { cve_id: id } of rows) known.add(id);
  };
  const addSome = async (all: readonly JudgedSoftware[]) => {
    const ids = new Map<string, Pick<SoftwareRow, "id" | "fingerprint" | "product">>();
    await putAll(all.flatMap(({ fresh }) => fresh), async (trx) => {
      await addSoftware(trx, all.map(({ row }) => row));
      for (const one of await findSoftware(trx, all.map(({ row }) => row.fingerprint))) ids.set(one.fingerprint, one);
      // What another replica was first with has judgments of its own.
      return all.filter(({ row }) => ids.get(row.fingerprint)?.id === row.id)
        .flatMap(({ row, fresh }) => fresh.map((one) => () => ({ software_id: row.id, ...one, since: row.judged_at, until: null })));
    });
    return all.map(({ row }) => ids.get(row.fingerprint) ?? row);
  };
  /** Until all is written, its row says that it was not judged. */
  const addLarge = async ({ row, fresh }: JudgedSoftware) => {
    const [{ id } = row] = await addSome([{ row: { ...row, lineage: "", generation: 0 }, fresh: [] }]);
    await write(id, new Map(), fresh);
    const { lineage, generation, basis, judged_at } = row;
    await commitUnflushed(db, (trx) => setJudged(trx, [{ id, lineage, generation, basis, judged_at }]));
    return { id, fingerprint: row.fingerprint, product: row.product };
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
      await putAll(part, async (trx) => {
        if (isNews) await setUnreported(trx, id);
        return part.map((row) => () => row);
      });
      await nextTurn();
    }
    for (let from = 0; from < gone.length; from += CHUNK) {
      await commitUnflushed(db, async (trx) => {
        if (isNews) await setUnreported(trx, id);
        await endJudgments(trx, gone.slice(from, from + CHUNK), at);
      });
      await nextTurn();
    }
  };
  return {
    write,
    async addAll(all) {
      if (all.length === 0) return [];
      const [first] = all;
      return all.length === 1 && first !== undefined && first.fresh.length > CHUNK ? [await addLarge(first)] : addSome(all);
    },
  };
}

const COMPARED = ["cpe", "version_range", "confidence", "status", "is_counted", "reasons", "remedies"] as const;

function isSame(old: JudgmentRow, row: FreshJudgment): boolean {
  return old.until === null && COMPARED.every((column) => old[column] === row[column]);
}
