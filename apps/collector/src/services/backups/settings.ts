import type { BackupSettings, BackupSettingsUpdate } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { type BackupSettingsRow, readSettings, SETTINGS_ID, writeSettings } from "./settings-store.ts";
import { parseSchedule, type Schedule } from "./schedule.ts";

/** What the configuration says of backups. The schedule and how many are kept may be set through the API where it leaves them out. */
export interface FixedSettings {
  /** Public keys. Without any those count that were set by command on the machine. */
  readonly recipients: readonly string[];
  /** A cron pattern. */
  readonly schedule: string | undefined;
  readonly keep: number | undefined;
}

/** What applies now. */
export interface CurrentSettings {
  readonly recipients: readonly string[];
  /** As it was written, and as it is calculated with; null where nothing is scheduled. */
  readonly schedule: { readonly pattern: string; readonly times: Schedule } | null;
  /** Of scheduled backups this many stay. */
  readonly keep: number;
  /** When somebody has set the schedule through the API, milliseconds since the epoch: what was due before is not made up for. */
  readonly scheduledAt: number | null;
  readonly shown: Omit<BackupSettings, "next_at">;
}

/** Backup settings: what the configuration file says wins over what was set through the API. */
export interface Settings {
  current(): Promise<CurrentSettings>;
  /** @throws ApiError BAD_REQUEST for what is no pattern; CONFLICT for what the configuration says. */
  change(actor: Actor, changes: BackupSettingsUpdate): Promise<void>;
}

const DEFAULT_KEEP = 7;

/** Without any setting seven scheduled backups are kept and nothing is scheduled. */
export function createSettings(
  deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly audit: Audit; readonly clock: Pick<Clock, "now"> },
  fixed: FixedSettings,
): Settings {
  const fixedFields = ([
    ["schedule", fixed.schedule !== undefined], ["keep", fixed.keep !== undefined],
  ] as const).filter(([, isFixed]) => isFixed).map(([name]) => name);
  const show = (row: BackupSettingsRow | undefined): CurrentSettings["shown"] => ({
    schedule: fixed.schedule ?? row?.schedule ?? null, keep: fixed.keep ?? row?.keep ?? DEFAULT_KEEP,
    recipients: fixed.recipients.length > 0 ? [...fixed.recipients] : (JSON.parse(row?.recipients ?? "[]") as string[]),
    fixed: fixedFields, updated_at: row?.updated_at ?? null, updated_by: row?.updated_by ?? null,
  });

  return {
    async current() {
      const row = await readSettings(deps.reads);
      const shown = show(row);
      const times = shown.schedule === null ? null : parseSchedule(shown.schedule);
      return {
        recipients: shown.recipients, keep: shown.keep, schedule: times && { pattern: shown.schedule ?? "", times },
        scheduledAt: fixed.schedule === undefined && row?.scheduled_at != null ? Date.parse(row.scheduled_at) : null, shown,
      };
    },
    async change(actor, changes) {
      check(changes, fixedFields);
      await deps.db.transaction().execute(async (trx) => {
        const row = await readSettings(trx);
        const at = toInstant(deps.clock.now());
        const { schedule, keep } = changes;
        const next: BackupSettingsRow = {
          id: SETTINGS_ID, schedule: schedule === undefined ? (row?.schedule ?? null) : schedule, keep: keep ?? row?.keep ?? null,
          recipients: row?.recipients ?? null,
          scheduled_at: schedule === undefined ? (row?.scheduled_at ?? null) : at, updated_at: at, updated_by: actor.name,
        };
        const { id: _, ...columns } = next;
        await writeSettings(trx, columns);
        await deps.audit(
          trx, { actor, action: "backup.configure", target: { type: "backup_settings", id: SETTINGS_ID }, before: show(row), after: show(next) },
        );
      });
    },
  };
}

function check({ schedule, ...others }: BackupSettingsUpdate, fixedFields: readonly string[]): void {
  const given = Object.entries({ schedule, ...others }).filter(([, value]) => value !== undefined).map(([name]) => name);
  const refused = given.filter((name) => fixedFields.includes(name));
  if (refused.length > 0) {
    throw new ApiError(
      "CONFLICT", `the collector's configuration file sets backups.${refused[0]}: change it there`, { details: { fixed: refused } },
    );
  }
  if (typeof schedule === "string" && parseSchedule(schedule) === null) {
    throw badRequest([{ path: ["schedule"], message: "a cron pattern of five parts, as 30 3 * * *" }]);
  }
}
