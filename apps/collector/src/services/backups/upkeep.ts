import { rmSync } from "node:fs";
import type { BackupSchedule } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import { repeatWork } from "../../repeated-work.ts";
import type { BackupMaker } from "./maker.ts";
import { toBackup } from "./records.ts";
import type { Schedule } from "./schedule.ts";
import type { BackupsStore } from "./store.ts";

/** Makes backups when they are due, forgets those that are too many, and ends those that nobody makes any more. */
export interface Upkeep {
  /** One look, as by the clock. */
  run(): Promise<void>;
  /** Whose word about the whole deployment counts; null where no tenant is. */
  operatorTenant(): Promise<string | null>;
  schedule(): Promise<BackupSchedule>;
  close(): Promise<void>;
}

export interface ScheduleSettings {
  readonly recipients: readonly string[];
  /** As it was written, and as it is calculated with; null where nothing is scheduled. */
  readonly schedule: { readonly pattern: string; readonly times: Schedule } | null;
  /** Of scheduled backups this many stay. */
  readonly keep: number;
  /** The operator's tenant, where it is not the first one. */
  readonly tenant: string | undefined;
}

const RUN_EVERY_MS = 15_000;

/** Before the first scheduled backup, the times count from the collector's start. */
export function createUpkeep(
  deps: {
    readonly store: BackupsStore; readonly maker: BackupMaker; readonly audit: Audit; readonly clock: Clock; readonly logger: Log;
    readonly reads: Parameters<BackupsStore["latestScheduled"]>[0];
  },
  settings: ScheduleSettings,
): Upkeep {
  const { store, maker, clock, logger } = deps;
  const startedAt = clock.now();
  const { schedule, recipients, keep } = settings;

  const operatorTenant = async () => {
    if (settings.tenant === undefined) return store.firstTenant();
    return (await store.tenantExists(settings.tenant)) ? settings.tenant : null;
  };
  /** After the latest: several that were missed are made up for by one. */
  const dueAt = async (from: Parameters<BackupsStore["latestScheduled"]>[0], tenantId: string) => {
    const latest = await store.latestScheduled(from, tenantId);
    return schedule?.times.next(latest === null ? startedAt : Date.parse(latest)) ?? null;
  };
  const makeDue = async (tenantId: string) => {
    if (!schedule || recipients.length === 0) return;
    const isEarly = async (from: Parameters<BackupsStore["latestScheduled"]>[0]) => {
      const due = await dueAt(from, tenantId);
      return due === null || due > clock.now();
    };
    if (await isEarly(deps.reads)) return;
    const row = maker.draft({ tenantId, trigger: "scheduled", requestedBy: "schedule" });
    // Asked again where nobody else can begin one: another collector may just have made it.
    if (await store.add(row, { unless: isEarly })) void maker.make(row);
  };
  const forgetSurplus = async (tenantId: string) => {
    for (const row of await store.surplus(tenantId, keep)) {
      await store.transaction(async (trx) => {
        await trx.deleteFrom("backups").where("id", "=", row.id).execute();
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
    await makeDue(tenantId);
    await forgetSurplus(tenantId);
  };
  const { run, close } = repeatWork({ clock, log: logger }, {
    everyMs: RUN_EVERY_MS, failure: "backups could not be looked after, trying again in some seconds", work,
  });

  return {
    run, close, operatorTenant,
    async schedule() {
      const tenantId = await operatorTenant();
      const next = tenantId === null || recipients.length === 0 ? null : await dueAt(deps.reads, tenantId);
      return {
        schedule: schedule?.pattern ?? null, next_at: next === null ? null : toInstant(Math.max(next, clock.now())), keep, recipients: [...recipients],
      };
    },
  };
}
