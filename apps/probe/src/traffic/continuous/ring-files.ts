import { readdir, stat } from "node:fs/promises";
import type { DiskRoom, FreeSpace } from "../capture-files/disk-room.ts";
import { filePath, partPath, removeCaptureFile } from "../capture-files/facts.ts";

/** A file of the ring that is not written any more. */
export interface RingFile {
  readonly id: string;
  readonly bytes: number;
  /** Microseconds since the epoch; null while nobody has read it since the start. */
  readonly from: number | null;
  readonly to: number | null;
}

/** The files of the ring, oldest first. */
export interface RingFiles {
  list(): readonly RingFile[];
  put(file: RingFile): void;
  /** It is gone by itself. */
  drop(id: string): void;
  /** Removes the oldest that nobody reads. @returns False where there is none. */
  removeOldest(): Promise<boolean>;
  /** Keeps a file from being removed, and counts it apart, until `unlock`. @returns False where it is not there any more. */
  lock(id: string): boolean;
  unlock(id: string): void;
  /** Two files in a row were removed and the disk had no more room than before. */
  readonly isRemovalUseless: boolean;
}

const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.pcapng(?:\.part)?$/;
/** Others write to the disk meanwhile: of less than this nothing can be said. */
const MIN_JUDGED_BYTES = 256 * 1024;

/** @returns Files that lie in the folder, oldest first: ids begin with the time at which they were made. */
export async function readRingFolder(folder: string): Promise<readonly RingFile[]> {
  const names = await readdir(folder).catch(() => []);
  const ids = [...new Set(names.flatMap((name) => NAME.exec(name)?.[1] ?? []))].toSorted();
  const sizeOf = (path: string) => stat(path).then(({ size }) => size, () => 0);
  return Promise.all(ids.map(async (id) => ({ id, bytes: await sizeOf(filePath(folder, id)) + await sizeOf(partPath(folder, id)), from: null, to: null })));
}

/**
 * @param deps.room Where the files are counted; made with `removeOldest`, so it comes later.
 * @param deps.onRemoved A file was removed to make room.
 */
export function createRingFiles(deps: {
  readonly folder: string; readonly found: readonly RingFile[]; readonly free: FreeSpace; readonly room: () => DiskRoom; readonly onRemoved: (id: string) => void;
}): RingFiles {
  const { folder, free } = deps;
  const files = new Map(deps.found.map((file) => [file.id, file]));
  const locked = new Map<string, number>();
  let useless = 0;
  return {
    list: () => [...files.values()],
    put: (file) => void files.set(file.id, file),
    drop(id) {
      const file = files.get(id);
      if (!file) return;
      files.delete(id);
      deps.room().removed(file.bytes);
    },
    async removeOldest() {
      const file = [...files.values()].find(({ id }) => !locked.has(id));
      if (!file) return false;
      files.delete(file.id);
      const before = free.free();
      await removeCaptureFile(folder, file.id).catch((error: unknown) => {
        // It still takes its room, and is tried again behind all others.
        files.set(file.id, file);
        throw error;
      });
      deps.room().removed(file.bytes);
      if (file.bytes >= MIN_JUDGED_BYTES) useless = free.free() - before < file.bytes / 2 ? useless + 1 : 0;
      deps.onRemoved(file.id);
      return true;
    },
    lock(id) {
      const file = files.get(id);
      if (!file) return false;
      if (!locked.has(id)) deps.room().removed(file.bytes);
      locked.set(id, (locked.get(id) ?? 0) + 1);
      return true;
    },
    unlock(id) {
      const locks = locked.get(id) ?? 0;
      if (locks > 1) locked.set(id, locks - 1);
      else if (locked.delete(id)) deps.room().added(files.get(id)?.bytes ?? 0);
    },
    get isRemovalUseless() {
      return useless >= 2;
    },
  };
}
