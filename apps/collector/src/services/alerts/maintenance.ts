import { type Clock, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Appended, EventLog } from "../../events/log.ts";
import { createJob, type Job } from "../../jobs/job.ts";
import { alertEvent } from "./reaction/reaction.ts";
import { createAlertMaintenanceStore } from "./maintenance-store.ts";

/** What alerts need beside events: an end for what fell quiet, and for what is long past. */
export interface AlertMaintenance {
  /** Ends what fell quiet, and forgets what is long past. */
  readonly job: Job<void>;
  /** A probe was revoked: what its own state had raised is no matter any more. */
  probeRevoked(probeId: string): Promise<void>;
}

/** A probe that reports an attack as begun and ended by turns makes twenty of each type within ten minutes, with all the evidence that it likes. */
const RESOLVED_PER_OPEN = 10;
const RUN_EVERY_MS = 60_000;
/** In one transaction, in which ingest waits. */
const AT_ONCE = 100;
/** A probe that is away sees nothing: quiet begins when it is back, and this much later at the earliest. */
const AWAY_EXTENSION_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Who nobody has brought back by then watches nothing any more: what it saw last says nothing of now. */
const MAX_AWAY_MS = 7 * DAY_MS;

/** Forgets some at a time, until there are no more. */
async function untilDone(stopped: AbortSignal, forget: () => Promise<number>): Promise<void> {
  for (let went = AT_ONCE; went === AT_ONCE && !stopped.aborted;) {
    went = await forget();
    await nextTurn();
  }
}

/**
 * @param options.keepDays How long resolved alerts are kept.
 * @param options.maxOpen Alerts of one type at a site that may be open; ten times as many of the site's resolved ones are kept.
 */
export function createAlertMaintenance(
  deps: {
    readonly db: Kysely<Schema>; readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
    readonly clock: Clock; readonly logger: Log;
  },
  options: { readonly keepDays: number; readonly maxOpen: number },
): AlertMaintenance {
  const { clock, logger } = deps;
  const store = createAlertMaintenanceStore(deps);

  /** Resolves, in the tenant's turn, those of `ids` that are not resolved yet. */
  const resolveAll = async (trx: Transaction<Schema>, tenantId: string, ids: readonly string[], by: string): Promise<Appended | null> => {
    const at = toInstant(clock.now());
    const rows = await store.resolve(trx, ids, { by, at });
    const published = rows.filter(({ notified }) => notified === 1).map((row) => alertEvent(row, at, at));
    return published.length === 0 ? null : deps.log.append(trx, tenantId, published);
  };
  const inTurn = async (tenantId: string, work: (trx: Transaction<Schema>) => Promise<Appended | null>) => {
    const appended = await store.inTurn(tenantId, work);
    if (appended) deps.published(tenantId, appended.fromSeq);
  };
  const endQuiet = (tenantId: string) => inTurn(tenantId, async (trx) => {
    const due = await store.quiet(trx, tenantId, toInstant(clock.now()), AT_ONCE);
    const silentTooLong = toInstant(clock.now() - MAX_AWAY_MS);
    const quiet = due.filter(({ silentSince }) => silentSince === null || silentSince <= silentTooLong).map(({ id }) => id);
    const unheard = due.map(({ id }) => id).filter((id) => !quiet.includes(id));
    await store.postpone(trx, unheard, toInstant(clock.now() + AWAY_EXTENSION_MS));
    return quiet.length === 0 ? null : resolveAll(trx, tenantId, quiet, "quiet");
  });
  const work = async (stopped: AbortSignal) => {
    const now = toInstant(clock.now());
    for (;;) {
      const tenantId = await store.tenantWithQuiet(now);
      if (tenantId === null || stopped.aborted) break;
      await endQuiet(tenantId);
      await nextTurn();
    }
    await store.forgetMutes(now);
    const tooOld = toInstant(clock.now() - options.keepDays * DAY_MS);
    await untilDone(stopped, () => store.forgetResolved(tooOld, AT_ONCE));
    for (const { siteId, until } of await store.crowded(options.maxOpen * RESOLVED_PER_OPEN)) {
      await untilDone(stopped, () => store.forgetOfSite(siteId, until, AT_ONCE));
    }
  };
  const job = createJob({ clock, log: logger }, {
    name: "alerts", everyMs: RUN_EVERY_MS, who: "one replica", failure: "maintenance of alerts failed, trying again in a minute", run: work,
  });
  return {
    job,
    async probeRevoked(probeId) {
      const open = await store.openOfProbe(probeId);
      const tenantId = open[0]?.tenant_id;
      if (tenantId !== undefined) await inTurn(tenantId, (trx) => resolveAll(trx, tenantId, open.map(({ id }) => id), "probe_revoked"));
    },
  };
}
