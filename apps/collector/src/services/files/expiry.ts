import { type Clock, toInstant } from "@lanthorn/runtime";
import type { KeyedQueue } from "../../ingest/commit/keyed-queue.ts";
import type { FileSettings } from "./configuration.ts";
import type { FileFolder } from "./folder.ts";
import type { FileRow, FilesStore } from "./store.ts";

/** Removing files whose time is over. */
export interface FileExpiry {
  /** Takes away what has had its time, and what no row knows. @returns How many files. */
  expire(stopped: AbortSignal): Promise<number>;
}

/** What removing files needs. */
export interface FileExpiryDependencies {
  readonly store: FilesStore;
  readonly folder: FileFolder;
  readonly serial: KeyedQueue;
  readonly settings: FileSettings;
  readonly clock: Pick<Clock, "now">;
}

const DAY_MS = 86_400_000;

/** Removes unfinished, failed and old files, one probe's at a time with what the probe asks for. */
export function fileExpiry({ store, folder, serial, settings, clock }: FileExpiryDependencies): FileExpiry {
  return {
    async expire(stopped) {
      const ago = (ms: number) => toInstant(clock.now() - ms);
      const { unfinished_hours: hours, keep_days: days } = settings;
      const over = await store.expired({ open: ago(hours * 3_600_000), failed: ago(DAY_MS), received: ago(days * DAY_MS) });
      let count = 0;
      const remove = (name: { readonly probeId: string; readonly id: string }, isOver: (row: FileRow | null) => boolean) =>
        serial.run(name.probeId, async () => {
          if (stopped.aborted || !isOver(await store.find(name.probeId, name.id))) return;
          await folder.remove(name);
          await store.remove(name.probeId, name.id);
          count += 1;
        });
      // One that went on in the meantime stays.
      for (const row of over) {
        await remove({ probeId: row.probe_id, id: row.id }, (current) => current?.updated_at === row.updated_at);
      }
      for (const name of await folder.list()) {
        await remove(name, (current) => current === null || current.state === "failed");
        await serial.run(name.probeId, () => folder.reseal(name));
      }
      return count;
    },
  };
}
