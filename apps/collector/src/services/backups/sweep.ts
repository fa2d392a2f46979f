import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { BackupOutcomes } from "./outcomes.ts";
import type { BackupRow, BackupsStore } from "./store.ts";

/** Some beats missed: the collector that made it is gone. */
const GONE_AFTER_MS = 60_000;
/** Of whichever collector: a terabyte is read in less. */
const VERIFY_AT_MOST_MS = 6 * 3_600_000;
const WORK_FOLDER = /^([\da-f-]{36})\.work$/;

/**
 * Ends the backups and verifications that no collector works on any more, and removes what they left on the disk.
 * @param settings.isAlone Whether this is the only collector on its database, so that at its start no backup can be running.
 * @param working The backups that this collector works on now.
 */
export function createBackupSweep(
  { store, outcomes, clock, working }: {
    readonly store: BackupsStore; readonly outcomes: Pick<BackupOutcomes, "failed">; readonly clock: Pick<Clock, "now">;
    readonly working: ReadonlyMap<string, unknown>;
  },
  settings: { readonly directory: string; readonly isAlone: boolean },
): () => Promise<void> {
  let hasSwept = false;
  return async () => {
    const isStart = !hasSwept && settings.isAlone;
    hasSwept = true;
    const running = await store.running();
    // At the start of the only collector there is nobody who could be at work.
    const isDead = ({ id, heard_at: at }: BackupRow) => !working.has(id) && (isStart || at < toInstant(clock.now() - GONE_AFTER_MS));
    for (const row of running.filter(isDead)) await outcomes.failed(row, "the collector that made it has stopped");
    // What was looked at by a collector that has stopped was not found to be anything.
    await store.forgetVerifications([...working.keys()], isStart ? toInstant(clock.now()) : toInstant(clock.now() - VERIFY_AT_MOST_MS));
    const alive = new Set([...working.keys(), ...running.filter((row) => !isDead(row)).map(({ id }) => id)]);
    for (const name of existsSync(settings.directory) ? readdirSync(settings.directory) : []) {
      const id = WORK_FOLDER.exec(name)?.[1];
      if (id !== undefined && !alive.has(id)) rmSync(join(settings.directory, name), { recursive: true, force: true });
    }
  };
}
