import { type Clock, describeError, type Log, nextTurn, parseJson, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import * as z from "zod";
import { inTurn } from "../../../../db/locks/lock-tenant.ts";
import { restForLog } from "../../../../db/query/statements.ts";
import type { Schema } from "../../../../db/schema.ts";
import type { EventLog, NewEvent } from "../../../../events/log.ts";
import { finishedVersion } from "../store/match-rows.ts";
import { FACTS } from "../store/rematch-rows.ts";
import { foundEvents, stateEvent } from "./report-events.ts";
import { createOpenLists, listOpen, type OpenList, type OpenLists } from "./open-lists.ts";
import { dueReports, nextDueTenant, noteSuppressed, openCves, readSources, type Reported, type ReportRow, type ReportSources, setReported, wakeReports } from "./report-store.ts";

/** What reporting needs of the rest of the collector. */
interface ReporterDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Pick<Log, "error">;
  /** Resolves when no change waits to be matched, or after some time: matching comes before reporting. */
  readonly matched: () => Promise<void>;
}

/** Reports of one transaction, those between two turns of the event loop, and what is woken at once. */
const [REPORTS, TURN, WOKEN] = [32, 4, 200];

/** Reports what is new of devices' products, and keeps their alerts at what is open. Tenants take turns. */
export function createReporter(deps: ReporterDependencies): { run(stopped: AbortSignal): Promise<void> } {
  const { db, reads, log, published, clock, logger, matched } = deps;
  const lists = createOpenLists();
  const reportTenant = async (tenantId: string): Promise<void> => {
    const due = await dueReports(reads, tenantId, REPORTS);
    const now = toInstant(clock.now());
    const fromSeq = await inTurn(db, tenantId, async (trx) => {
      const version = await finishedVersion(trx, FACTS);
      const sources = [...await readSources(trx, due, now)];
      const openOf = createOpenOf(trx, lists, { now, facts: `${version?.lineage ?? ""} ${version?.generation ?? 0}` });
      let first: number | null = null;
      for (let from = 0; from < sources.length; from += TURN) {
        const made = [];
        for (const [row, source] of sources.slice(from, from + TURN)) made.push(await reportOne(row, source, { openOf, now }));
        const events = made.flatMap((one) => one.events);
        const appended = events.length === 0 ? null : await log.append(trx, tenantId, events);
        first ??= appended?.fromSeq ?? null;
        await setReported(trx, made.map(({ row, reported }) => [row, reported]));
        await nextTurn();
      }
      return first;
    });
    if (fromSeq !== null) published(tenantId, fromSeq);
  };
  return {
    async run(stopped) {
      while (!stopped.aborted && await noteSuppressed(db, NOTED)) await nextTurn();
      await wakeReports(db, toInstant(clock.now()), WOKEN);
      const broken = new Set<string>();
      for (let tenantId: string | null = ""; !stopped.aborted;) {
        const isFirst: boolean = tenantId === "";
        tenantId = await nextDueTenant(reads, tenantId ?? "");
        while (tenantId !== null && broken.has(tenantId)) tenantId = await nextDueTenant(reads, tenantId);
        if (tenantId === null && isFirst) {
          await restForLog(db);
          return;
        }
        if (tenantId === null) {
          tenantId = "";
          continue;
        }
        try {
          await matched();
          await restForLog(db);
          if (!stopped.aborted) await reportTenant(tenantId);
        } catch (error) {
          broken.add(tenantId);
          logger.error({ reason: describeError(error) }, "matches of CVEs could not be reported, trying again in some seconds");
        }
        await nextTurn();
      }
    },
  };
}

/** What is noted as suppressed in one transaction. */
const NOTED = 250;
const Said = z.array(z.string()).catch([]);

/** What is open of a report, and of that what was not reported before. */
type OpenOf = (row: ReportRow, sources: ReportSources) => Promise<{ readonly open: OpenList; readonly fresh: Pick<OpenList, "worst" | "count"> }>;

function createOpenOf(trx: Transaction<Schema>, lists: OpenLists, { now, facts }: { readonly now: string; readonly facts: string }): OpenOf {
  return async (row, { services, suppressedUntil }) => {
    const open = suppressedUntil === undefined ? await lists.of(trx, services, facts) : null;
    if (open !== null && row.cves === open.ids) return { open, fresh: NOTHING };
    if (open !== null && row.cves === NONE) return { open, fresh: open };
    const all = await openCves(trx, row, now);
    const said = new Set(Said.parse(parseJson(row.cves)));
    return { open: listOpen(all), fresh: listOpen(all.filter(({ cve_id: id }) => !said.has(id))) };
  };
}

/** A JSON list without entries, and what is open then. */
const [NONE, NOTHING] = ["[]", { worst: [], count: 0 }] as const;

async function reportOne(
  row: ReportRow, sources: ReportSources, { openOf, now }: { readonly openOf: OpenOf; readonly now: string },
): Promise<{ readonly row: ReportRow; readonly reported: Reported; readonly events: readonly NewEvent[] }> {
  const { device, suppressedUntil = null } = sources;
  const { open, fresh } = await openOf(row, sources);
  const reported = { cves: open.ids, severity: open.count === 0 ? null : open.severity, look_at: suppressedUntil };
  const isSame = reported.cves === row.cves && reported.severity === row.severity;
  return { row, reported, events: [...foundEvents(fresh, { row, device, now }), ...(isSame ? [] : [stateEvent(open, { row, device, now })])] };
}
