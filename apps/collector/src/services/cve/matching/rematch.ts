import { type Clock, createId, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { commitUnflushed } from "../../../db/query/unflushed.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Judging } from "./judging.ts";
import { finishedVersion, putMatchedCves, setFinished, setJudged, setUnreported } from "./store/match-rows.ts";
import { FACTS, matchedCvesAfter, outdatedSoftware, reportDevices, softwareWithCves, type OutdatedSoftware, unreportedSoftware } from "./store/rematch-rows.ts";
import type { CveVersion } from "./thread/match-tasks.ts";
import type { MatchThread } from "./thread/match-thread.ts";

/** What matching anew needs. */
export interface RematchDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly clock: Pick<Clock, "now">;
  readonly thread: Pick<MatchThread, "ask">;
  readonly judging: Judging;
  /** Is called between two pieces of software: what people wait for need not wait for a whole pass. */
  readonly between: () => Promise<void>;
}

const SOFTWARE = 100;
const CVES = 50;

/**
 * Brings judgments and what is shown of CVEs up to the CVE database that answers: software of products that a changed CVE names, or named, and
 * packages of which a distribution says something else. Each row says by what it was judged, so that whoever is killed in the middle goes on there.
 */
export async function matchAgain(deps: RematchDependencies, now: CveVersion, stopped: AbortSignal): Promise<void> {
  const { reads } = deps;
  const before = createBefore(deps);
  for (let after = { product: "", id: "" }; !stopped.aborted;) {
    const software = await outdatedSoftware(reads, now, { after, limit: SOFTWARE });
    await judgeOutdated(deps, { now, software, before }, stopped);
    const last = software.at(-1);
    if (last === undefined) break;
    after = last;
    await nextTurn();
  }
  await refreshFacts(deps, now, stopped);
}

/** Software with judgments on CVEs that have changed since a version; null for all. Each is asked once. */
function createBefore({ reads, thread }: RematchDependencies) {
  const known = new Map<string, ReadonlySet<string> | null>();
  return async (since: CveVersion): Promise<ReadonlySet<string> | null> => {
    const key = `${since.lineage} ${since.generation}`;
    const there = known.get(key);
    if (there !== undefined) return there;
    const changed = await thread.ask("changed", since);
    const ids = changed?.ids ?? null;
    const found = ids === null ? null : new Set(await softwareWithCves(reads, ids));
    known.set(key, found);
    return found;
  };
}

async function judgeOutdated({ db, clock, thread, judging, between }: RematchDependencies, { now, software, before }: {
  readonly now: CveVersion; readonly software: readonly OutdatedSoftware[]; readonly before: ReturnType<typeof createBefore>;
}, stopped: AbortSignal): Promise<void> {
  const versions = new Map(software.map(({ lineage, generation }) => [`${lineage} ${generation}`, { lineage, generation }]));
  const concerned = new Set<string>();
  for (const [key, since] of versions) {
    const own = software.filter(({ lineage, generation }) => `${lineage} ${generation}` === key);
    const named = await before(since);
    const answer = await thread.ask("concerned", { ...since, software: own.map(({ id, evidence, basis }) => ({ id, evidence, basis })) });
    for (const id of answer?.ids ?? []) concerned.add(id);
    for (const { id } of own) if (named === null || named.has(id)) concerned.add(id);
  }
  const at = toInstant(clock.now());
  const untouched = software.filter(({ id }) => !concerned.has(id));
  await commitUnflushed(db, (trx) => setJudged(trx, untouched.map(({ id, basis }) => ({ id, ...now, basis, judged_at: at }))));
  for (const one of software) {
    if (stopped.aborted) return;
    if (!concerned.has(one.id)) continue;
    if (!await judging.again(one)) return;
    await nextTurn();
    await between();
  }
}

/** What is shown of all matched CVEs, where it is another than before. What decides about alerts is reported anew. */
async function refreshFacts({ db, reads, clock, thread }: RematchDependencies, now: CveVersion, stopped: AbortSignal): Promise<void> {
  const done = await finishedVersion(reads, FACTS);
  if (done?.lineage === now.lineage && done.generation === now.generation) return;
  for (let after = ""; !stopped.aborted;) {
    const rows = await matchedCvesAfter(reads, after, CVES);
    if (rows.length === 0) {
      await setFinished(db, { name: FACTS, ...now, at: toInstant(clock.now()) });
      return;
    }
    const old = new Map(rows.map((row) => [row.cve_id, row]));
    const fresh = await thread.ask("facts", { ids: rows.map(({ cve_id: id }) => id) }) ?? [];
    const changed = fresh.filter((row) => JSON.stringify(row) !== JSON.stringify(pick(old.get(row.cve_id), row)));
    const graver = changed.filter(({ cve_id: id, severity, is_kev: isKev }) => old.get(id)?.severity !== severity || old.get(id)?.is_kev !== isKev);
    const software = graver.length === 0 ? [] : await softwareWithCves(reads, graver.map(({ cve_id: id }) => id));
    await commitUnflushed(db, async (trx) => {
      await putMatchedCves(trx, changed);
      for (const id of software) await setUnreported(trx, id);
    });
    after = rows.at(-1)?.cve_id ?? "";
    await nextTurn();
  }
}

/** The columns of the second, in its order. */
function pick<T extends object>(row: T | undefined, like: T): object {
  return Object.fromEntries(Object.keys(like).map((column) => [column, row?.[column as keyof T]]));
}

/** Notes in `cve_reports` which devices have software whose judgments have changed. */
export async function noteDevices({ db, reads }: Pick<RematchDependencies, "db" | "reads">, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    const software = await unreportedSoftware(reads, SOFTWARE);
    for (const id of software) {
      for (let after: string | null = ""; after !== null && !stopped.aborted;) {
        const from: string = after;
        after = await commitUnflushed(db, (trx) => reportDevices(trx, id, { after: from, due: createId() }));
        await nextTurn();
      }
    }
    if (software.length < SOFTWARE) return;
  }
}
