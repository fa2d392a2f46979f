import { type Command, type CommandData, type CommandType, type EventData, MESSAGE_VERSION, type Reply } from "@lanthorn/contract";
import { type Clock, createId, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import * as z from "zod";
import type { Broker } from "../../broker/broker.ts";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import { createJob, type Job } from "../../jobs/job.ts";
import { createScanDispatchStore } from "./dispatch-store.ts";
import type { ScanRow } from "./reaction-store.ts";

/** A probe as ingest knows it. */
interface ProbeRun {
  readonly tenantId: string;
  readonly probeId: string;
}

/** Brings scans to their probes, and sees that each one ends. */
export interface ScanDispatch {
  /** Sends the command of a queued scan. @throws What the broker says when it cannot take it. */
  start(scan: ScanRow, excluded: readonly string[]): Promise<void>;
  /** Sends the cancellation of a scan to the probe; a probe that is away gets it when it returns. */
  cancel(scan: ScanRow): Promise<void>;
  /** Ends a scan that is open as failed. @param how.presumed The probe may know better. */
  fail(scan: Pick<ScanRow, "id" | "tenant_id">, reason: string, how: { readonly presumed: boolean }): Promise<void>;
  /** A probe has answered a command. */
  replied(probe: ProbeRun, reply: Reply): Promise<void>;
  /** A probe has connected. @param runId Another one after each start of its daemon. */
  online(probe: ProbeRun, runId: string): Promise<void>;
  /** Ends what is overdue, and forgets what is long past. */
  readonly job: Job<void>;
}

/** How long the probe may take to get the command, and then to say so. */
export const COMMAND_EXPIRES_MS = 30_000;
/** A scan that is queued for longer fails. It includes `COMMAND_EXPIRES_MS` and the answer's way back. */
export const ANSWER_WITHIN_MS = 40_000;
/** What a probe says of an earlier run comes with its queue; then nothing more is to be waited for. */
const ORPHAN_GRACE_MS = 30_000;
/** A running scan tells of itself each minute; without that for so long, nobody knows of it. */
const STALLED_AFTER_MS = 3_600_000;
/** The largest network at the slowest rate is scanned by then; until it ends, nothing else scans these addresses. */
const MAX_RUN_DAYS = 14;
const RUN_EVERY_MS = 5000;
const KEPT_AT_ONCE = 100;
const DAY_MS = 86_400_000;

const HostsTotal = z.int().min(0);

/** @param options.keepDays How long scans that have ended are kept. */
export function createScanDispatch(
  deps: {
    readonly db: Kysely<Schema>; readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
    readonly broker: Pick<Broker, "publish">; readonly clock: Clock; readonly logger: Log;
  },
  options: { readonly keepDays: number },
): ScanDispatch {
  const { clock, logger } = deps;
  const store = createScanDispatchStore(deps);
  const now = () => toInstant(clock.now());

  const send = async <T extends CommandType>(scan: ScanRow, id: string, type: T, data: CommandData<T>) => {
    const issued = clock.now();
    const command: Command = {
      v: MESSAGE_VERSION, id, type, issued_at: toInstant(issued), expires_at: toInstant(issued + COMMAND_EXPIRES_MS), data,
    };
    await deps.broker.publish({ tenantId: scan.tenant_id, probeId: scan.probe_id }, "commands", JSON.stringify(command), { retain: false });
  };
  const fail: ScanDispatch["fail"] = async ({ id, tenant_id: tenantId }, reason, { presumed }) => {
    const appended = await store.inTurn(tenantId, async (trx) => {
      const at = now();
      const scan = await store.fail(trx, id, { reason, at, presumed });
      if (!scan) return null;
      const data: EventData<"scan_failed"> = { scan_id: id, target: scan.target, profile: scan.profile, reason };
      return deps.log.append(trx, tenantId, [{
        type: "scan_failed", data, siteId: scan.site_id, probeId: scan.probe_id, deviceId: null, queueId: null, probeSeq: null,
        occurredAt: at, receivedAt: at,
      }]);
    });
    if (!appended) return;
    logger.warn({ scan_id: id, reason }, "a scan failed");
    deps.published(tenantId, appended.fromSeq);
  };
  const cancel = async (scan: ScanRow) => {
    try {
      await send(scan, scan.cancel_command_id ?? createId(), "scan_cancel", { scan_id: scan.id });
    } catch (error) {
      logger.warn(
        { scan_id: scan.id, probe_id: scan.probe_id, reason: describeError(error) },
        "cannot send the cancellation of a scan to the probe now; it gets it when it returns",
      );
    }
  };
  const begun = (scan: ScanRow, data: Reply["data"]) => store.inTurn(scan.tenant_id, (trx) =>
    store.begin(trx, scan.id, { at: now(), hostsTotal: HostsTotal.catch(0).parse(data["hosts_total"]) }));

  const work = async (stopped: AbortSignal) => {
    for (const scan of await store.open()) {
      const reason = whyOverdue(scan, clock.now());
      if (reason !== null && !stopped.aborted) await fail(scan, reason, { presumed: scan.revoked_at === null && !hasNoEnd(scan, clock.now()) });
    }
    await store.forgetEnded(toInstant(clock.now() - options.keepDays * DAY_MS), KEPT_AT_ONCE);
  };
  const job = createJob({ clock, log: logger }, {
    name: "scans", everyMs: RUN_EVERY_MS, who: "one replica", failure: "maintenance of scans failed, trying again in some seconds",
    run: work,
  });

  return {
    fail, cancel, job,
    start: (scan, excluded) => send(scan, scan.command_id, "scan_start", {
      scan_id: scan.id, target: scan.target, profile: scan.profile, excluded: [...excluded],
    }),
    async replied({ probeId }, { command_id: id, ok, error, data }) {
      if (id === null) return;
      const scan = await store.byCommand(probeId, id);
      if (!scan) return;
      if (scan.cancel_command_id === id) await store.cancelHeard(scan.id);
      else if (ok) await begun(scan, data);
      else await fail(scan, error === null ? "the probe did not start it" : error.message, { presumed: false });
    },
    async online({ probeId }, runId) {
      // A scan of an earlier run is over, and what the probe still had to say of it is on its way.
      await store.markOrphaned(probeId, runId, now());
      for (const scan of await store.unheardCancels(probeId)) await cancel(scan);
    },
  };
}

function hasNoEnd({ status, started_at: at }: ScanRow, now: number): boolean {
  return status === "running" && at !== null && at <= toInstant(now - MAX_RUN_DAYS * DAY_MS);
}

/** @returns Why a scan that is open has failed; null where it has not. */
function whyOverdue(scan: ScanRow & { readonly revoked_at: string | null }, now: number): string | null {
  if (scan.revoked_at !== null) return "the probe was revoked";
  if (hasNoEnd(scan, now)) return `it had no end after ${MAX_RUN_DAYS} days`;
  if (scan.status === "queued" && scan.answer_by <= toInstant(now)) return `the probe did not answer within ${ANSWER_WITHIN_MS / 1000} s`;
  if (scan.orphaned_at !== null && scan.orphaned_at <= toInstant(now - ORPHAN_GRACE_MS)) return "the probe was restarted";
  const isStalled = scan.status === "running" && scan.heard_at <= toInstant(now - STALLED_AFTER_MS);
  return isStalled ? "the probe reported nothing about the scan for an hour" : null;
}
