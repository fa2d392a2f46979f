import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** Linux's file system in memory, which every process may write to. */
const SHARED_MEMORY = "/dev/shm";
const PREFIX = "lanthorn-tests-";
/** Some times what the databases and files of all tests that run at once have. */
const MIN_FREE_BYTES = 6 * 2 ** 30;

/**
 * Makes a folder in memory for this process, which goes when the process ends; those of processes that were killed go first. What a
 * test keeps is thrown away after it, and to write it to a disk takes a third of the whole run.
 * @returns Its path; null on a machine without such memory, or with little of it.
 */
export function openMemoryFolder(): string | null {
  if (!existsSync(SHARED_MEMORY)) return null;
  for (const name of readdirSync(SHARED_MEMORY).filter((one) => one.startsWith(PREFIX))) {
    if (!existsSync(`/proc/${name.slice(PREFIX.length)}`)) rmSync(join(SHARED_MEMORY, name), { recursive: true, force: true });
  }
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  if (bavail * bsize < MIN_FREE_BYTES) return null;
  const folder = join(SHARED_MEMORY, `${PREFIX}${process.pid}`);
  // Programs of other users, as PostgreSQL, have their folders in it.
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
