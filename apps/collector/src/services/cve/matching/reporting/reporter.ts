import type { EventData } from "@lanthorn/contract";
import { type Clock, describeError, type Log, nextTurn, parseJson, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import * as z from "zod";
import { lockTenant } from "../../../../db/locks/lock-tenant.ts";
import type { Schema } from "../../../../db/schema.ts";
import type { EventLog, NewEvent } from "../../../../events/log.ts";
import { foundEvents, stateEvent } from "./report-events.ts";
import { deviceOf, dueReports, nextDueTenant, noteSuppressed, openCves, type ReportRow, setReported, suppressionEnds, wakeReports } from "./report-store.ts";

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
const [REPORTS, TURN, WOKEN] = [16, 4, 200];

/** Reports what is new of devices' products, and keeps their alerts at what is open. Tenants take turns. */
export function createReporter(deps: ReporterDependencies): { run(stopped: AbortSignal): Promise<void> } {
  const { db, reads, log, published, clock, logger, matched } = deps;
  const reportTenant = async (tenantId: string): Promise<void> => {
    const due = await dueReports(reads, tenantId, REPORTS);
    const now = toInstant(clock.now());
    const appended = await db.transaction().execute(async (trx) => {
      await lockTenant(trx, tenantId);
      const events: NewEvent[] = [];
      for (const [index, row] of due.entries()) {
        events.push(...await reportOne(trx, row, now));
        if (index % TURN === TURN - 1) await nextTurn();
      }
      return events.length === 0 ? null : log.append(trx, tenantId, events);
    });
    if (appended) published(tenantId, appended.fromSeq);
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
        if (tenantId === null && isFirst) return;
        if (tenantId === null) {
          tenantId = "";
          continue;
        }
        try {
          await matched();
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

async function reportOne(trx: Transaction<Schema>, row: ReportRow, now: string): Promise<readonly NewEvent[]> {
  const device = await deviceOf(trx, row.device_id);
  if (!device) return [];
  const open = await openCves(trx, row, now);
  const said = new Set(Said.parse(parseJson(row.cves)));
  const fresh = open.filter(({ cve_id: id }) => !said.has(id));
  const state = stateEvent(open, { row, device, now });
  const cves = JSON.stringify(open.map(({ cve_id: id }) => id));
  const severity = (state.data as EventData<"vuln_state">).state === "open" ? (state.data as EventData<"vuln_state">).severity : null;
  await setReported(trx, row, { cves, severity, look_at: await suppressionEnds(trx, row, device.site_id, now) });
  const isSame = cves === row.cves && severity === row.severity;
  return [...foundEvents(fresh, { row, device, now }), ...(isSame ? [] : [state])];
}
