import type { Kysely, Transaction } from "kysely";
import { inTurn } from "../../db/locks/lock-tenant.ts";
import type { Schema } from "../../db/schema.ts";
import type { ScanRow } from "./reaction-store.ts";

type Trx = Transaction<Schema>;
const OPEN = ["queued", "running"] as const;

/** What the dispatch of scans reads and writes. Instants are RFC 3339 in UTC. */
export interface ScanDispatchStore {
  /** Holds the tenant's row until `work` has ended, so that no event changes its scans meanwhile. */
  inTurn<R>(tenantId: string, work: (trx: Trx) => Promise<R>): Promise<R>;
  /** Ends a scan that is open. @returns It as it then is; null where it is not open any more. */
  fail(
    trx: Trx, scanId: string, end: { readonly reason: string; readonly at: string; readonly presumed: boolean },
  ): Promise<ScanRow | null>;
  /** A queued scan runs. */
  begin(trx: Trx, scanId: string, start: { readonly at: string; readonly hostsTotal: number }): Promise<void>;
  /** Those that are queued or running, with when their probe was revoked. */
  open(): Promise<readonly (ScanRow & { readonly revoked_at: string | null })[]>;
  /** Forgets scans that ended before `before`, at most `limit`. */
  forgetEnded(before: string, limit: number): Promise<void>;
  /** The scan of a probe that a command started or cancelled; null where there is none. */
  byCommand(probeId: string, commandId: string): Promise<ScanRow | null>;
  /** The probe knows that the scan is cancelled. */
  cancelHeard(scanId: string): Promise<void>;
  /** A probe was started again: open scans of another run than this one are over. */
  markOrphaned(probeId: string, runId: string, at: string): Promise<void>;
  /** Cancelled scans of which the probe does not know yet. */
  unheardCancels(probeId: string): Promise<readonly ScanRow[]>;
}

/** Over the collector's database. */
export function createScanDispatchStore({ db }: { readonly db: Kysely<Schema> }): ScanDispatchStore {
  return {
    inTurn: (tenantId, work) => inTurn(db, tenantId, work),
    async fail(trx, scanId, { reason, at, presumed }) {
      return (await trx.updateTable("scans").set({ status: "failed", error: reason, finished_at: at, presumed: presumed ? 1 : 0 })
        .where("id", "=", scanId).where("status", "in", OPEN).returningAll().executeTakeFirst()) ?? null;
    },
    async begin(trx, scanId, { at, hostsTotal }) {
      await trx.updateTable("scans").set({ status: "running", started_at: at, heard_at: at, hosts_total: hostsTotal })
        .where("id", "=", scanId).where("status", "=", "queued").execute();
    },
    open: () => db.selectFrom("scans").leftJoin("probes", "probes.id", "scans.probe_id")
      .selectAll("scans").select("probes.revoked_at").where("scans.status", "in", OPEN).execute(),
    async forgetEnded(before, limit) {
      const old = await db.selectFrom("scans").select("id").where("status", "not in", OPEN).where("finished_at", "<", before)
        .limit(limit).execute();
      if (old.length > 0) await db.deleteFrom("scans").where("id", "in", old.map(({ id }) => id)).execute();
    },
    async byCommand(probeId, commandId) {
      return (await db.selectFrom("scans").selectAll().where("probe_id", "=", probeId)
        .where((eb) => eb.or([eb("command_id", "=", commandId), eb("cancel_command_id", "=", commandId)])).executeTakeFirst()) ?? null;
    },
    async cancelHeard(scanId) {
      await db.updateTable("scans").set({ cancel_command_id: null }).where("id", "=", scanId).execute();
    },
    async markOrphaned(probeId, runId, at) {
      await db.updateTable("scans").set({ orphaned_at: at }).where("probe_id", "=", probeId).where("status", "in", OPEN)
        .where("orphaned_at", "is", null).where("run_id", "<>", runId).execute();
    },
    unheardCancels: (probeId) => db.selectFrom("scans").selectAll().where("probe_id", "=", probeId).where("status", "=", "cancelled")
      .where("cancel_command_id", "is not", null).execute(),
  };
}
