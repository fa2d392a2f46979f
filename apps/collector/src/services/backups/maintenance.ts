import { rmSync } from "node:fs";
import type { BackupSettings } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import { createJob, type Job } from "../../jobs/job.ts";
import type { BackupMaker } from "./maker.ts";
import { toBackup } from "./records.ts";
import type { CurrentSettings, Settings } from "./settings.ts";
import type { BackupsStore } from "./store.ts";

/** Makes backups when they are due, forgets those that are too many, and ends those that nobody makes any more. */
export interface Maintenance {
  readonly job: Job<void>;
  /** Whose word about the whole deployment counts; null where no tenant is. */
  operatorTenant(): Promise<string | null>;
  settings(): Promise<BackupSettings>;
}

const RUN_EVERY_MS = 15_000;

/** Before the first scheduled backup, the times count from the collector's start. */
export function createMaintenance(
  deps: {
    readonly store: BackupsStore; readonly maker: BackupMaker; readonly audit: Audit; readonly clock: Clock; readonly logger: Log;
    readonly settings: Pick<Settings, "current">; readonly reads: Parameters<BackupsStore["latestScheduled"]>[0];
  },
  /** The operator's tenant, where it is not the first one. */
  tenant: string | undefined,
): Maintenance {
  const { store, maker, clock, logger } = deps;
  const startedAt = clock.now();
  let hasWarned = false;

  const operatorTenant = async () => {
    if (tenant === undefined) return store.firstTenant();
    return (await store.tenantExists(tenant)) ? tenant : null;
  };
  /** After the latest: several that were missed are made up for by one, but for those from before the schedule was set. */
  const dueAt = async (
    from: Parameters<BackupsStore["latestScheduled"]>[0], tenantId: string, { schedule, recipients, scheduledAt }: CurrentSettings,
  ) => {
    if (!schedule || recipients.length === 0) return null;
    const latest = await store.latestScheduled(from, tenantId);
    return schedule.times.next(Math.max(latest === null ? startedAt : Date.parse(latest), scheduledAt ?? 0));
  };
  const makeDue = async (tenantId: string, settings: CurrentSettings) => {
    const isEarly = async (from: Parameters<BackupsStore["latestScheduled"]>[0]) => {
      const due = await dueAt(from, tenantId, settings);
      return due === null || due > clock.now();
    };
    if (await isEarly(deps.reads)) return;
    const row = maker.draft({ tenantId, trigger: "scheduled", requestedBy: "schedule", recipients: settings.recipients });
    // Asked again where nobody else can begin one: another collector may just have made it.
    if (await store.add(row, { unless: isEarly })) void maker.make(row);
  };
  const forgetSurplus = async (tenantId: string, { keep }: CurrentSettings) => {
    for (const row of await store.surplus(tenantId, keep)) {
      await store.transaction(async (trx) => {
        await store.remove(trx, row.id);
        await deps.audit(trx, {
          actor: { type: "system", id: "backups", name: "schedule", tenantId, address: "" }, action: "backup.delete",
          target: { type: "backup", id: row.id }, before: toBackup(row, maker.isAvailable(row)), after: null,
        });
      });
      rmSync(maker.fileOf(row), { force: true });
    }
  };
  const work = async () => {
    await maker.sweep();
    const tenantId = await operatorTenant();
    if (tenantId === null) return;
    const settings = await deps.settings.current();
    if (settings.schedule && settings.recipients.length === 0 && !hasWarned) {
      hasWarned = true;
      logger.warn({}, "backups are scheduled but no key is set: set backups.recipients, or run lanthorn-collector backups recipients KEY");
    }
    await makeDue(tenantId, settings);
    await forgetSurplus(tenantId, settings);
  };
  const job = createJob({ clock, log: logger }, {
    name: "backups", everyMs: RUN_EVERY_MS, atStart: true, who: "one replica",
    failure: "maintenance of backups failed, trying again in some seconds", run: work,
  });

  return {
    job, operatorTenant,
    async settings() {
      const [tenantId, settings] = [await operatorTenant(), await deps.settings.current()];
      const next = tenantId === null ? null : await dueAt(deps.reads, tenantId, settings);
      return { ...settings.shown, next_at: next === null ? null : toInstant(Math.max(next, clock.now())) };
    },
  };
}
