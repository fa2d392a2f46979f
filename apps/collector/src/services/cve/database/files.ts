import { chownSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import Sqlite from "better-sqlite3";

/** The generation that answers. */
const CURRENT = "current.db";
/** The one that is being built, and what SQLite may lay beside it. */
const NEXT = "next.db";
const LOCK = "import.lock";

/** The folder of the CVE database in a data directory. */
export const cveDirectory = (dataDir: string): string => join(resolve(dataDir), "cve");

/** The file that answers, in the folder of CVE databases. It may be missing. */
export const currentFile = (directory: string): string => join(directory, CURRENT);

/** The file in which whoever holds the lock builds the next generation. */
export const nextFile = (directory: string): string => join(directory, NEXT);

/** A file of whoever holds the lock, which is removed with the next generation. */
export const scratchFile = (directory: string): string => `${nextFile(directory)}-archive`;

/**
 * Lets one process at a time build a generation. The lock is SQLite's on a file of its own, so it ends with the process, however that ends.
 * @returns What releases it; null while another process builds.
 */
export function lockDatabases(directory: string): (() => void) | null {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, LOCK);
  const lock = new Sqlite(file, { timeout: 0 });
  try {
    // In memory, so that nothing is left to be rolled back, nor to be written on a full disk.
    lock.pragma("journal_mode = memory");
    lock.exec("begin exclusive");
  } catch (error) {
    lock.close();
    if (error instanceof Sqlite.SqliteError && error.code.startsWith("SQLITE_BUSY")) return null;
    throw error;
  }
  likeFolder(file, directory);
  return () => {
    lock.exec("rollback");
    lock.close();
  };
}

/** Removes what builders that were killed have left. Nothing happens while one is at work, or where there is no such folder. */
export function clearLeftovers(directory: string): void {
  if (!existsSync(directory)) return;
  const release = lockDatabases(directory);
  if (release === null) return;
  try {
    removeNext(directory);
  } finally {
    release();
  }
}

/** Removes the file that is being built. For who holds the lock. */
export function removeNext(directory: string): void {
  for (const name of readdirSync(directory)) if (name.startsWith(NEXT)) rmSync(join(directory, name), { force: true });
}

/** Puts what was built in the place of the last generation: after a power cut there is one of the two, whole. */
export function installNext(directory: string): void {
  const next = nextFile(directory);
  likeFolder(next, directory);
  syncFile(next);
  renameSync(next, currentFile(directory));
  syncFile(directory);
}

/** What tells one generation's file from the next. Null where there is no file. */
export function fileMark(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}

function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** What root builds belongs to the daemon, as the folder does. */
function likeFolder(path: string, directory: string): void {
  const [own, folder] = [statSync(path), statSync(directory)];
  if (own.uid !== folder.uid || own.gid !== folder.gid) chownSync(path, folder.uid, folder.gid);
}
