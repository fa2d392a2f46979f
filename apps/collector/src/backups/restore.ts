import { constants, copyFileSync, createReadStream, existsSync, mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import Sqlite from "better-sqlite3";
import { syncPath } from "../certificates/key-file.ts";
import { prepareDataDir } from "../data-dir.ts";
import { CollectorError } from "../errors.ts";
import type { AgeKey } from "./age-keys.ts";
import { createDatabaseTools } from "./database-tools.ts";
import type { Manifest } from "./manifest.ts";
import { type UnpackedBackup, unpackBackup } from "./read-backup.ts";
import { filesIn, giveTo, swapIn } from "./swap.ts";

export interface Restored {
  readonly manifest: Manifest;
  /** Where what was there before lies now. */
  readonly aside: readonly string[];
}

/**
 * Puts a backup in the place of what a data directory has. Everything is unpacked, brought up and compared first; then it is
 * swapped in at once. What was there before is moved aside, never deleted. Backups themselves stay where they are.
 * @param options.force Without it, only an empty data directory is taken.
 * @param options.stamp Tells this restore's folders apart.
 * @throws CollectorError `restore-refused` over a running collector or over what is there; as `unpackBackup`.
 */
export async function restoreBackup(options: {
  readonly file: string;
  readonly identities: readonly AgeKey[];
  readonly dataDir: string;
  readonly databaseFile: string;
  readonly force: boolean;
  readonly stamp: string;
}): Promise<Restored> {
  const { file, identities, force, stamp } = options;
  const [dataDir, databaseFile] = [resolve(options.dataDir), resolve(options.databaseFile)];
  prepareDataDir(dataDir);
  const [present] = existsSync(databaseFile) ? [databaseFile] : filesIn(dataDir);
  if (present !== undefined && !force) {
    throw new CollectorError("restore-refused", `${dataDir} is not empty (${basename(present)}): --force moves what is there aside`);
  }
  const lock = lockDatabase(databaseFile);
  // Beside what it replaces: only within a file system is a move one step.
  const stageIn = (folder: string) => join(folder, `.restore-${stamp}`);
  const staging = [...new Set([stageIn(dirname(databaseFile)), stageIn(dataDir)])];
  try {
    for (const folder of staging) mkdirSync(folder, { mode: 0o700 });
    const unpacked = await unpackBackup(createReadStream(file), { identities }, stageIn(dirname(databaseFile)), createDatabaseTools({ file: databaseFile }));
    const restored = prepare(unpacked, { dataDir, databaseFile, stage: stageIn(dataDir) });
    const aside = swapIn({ dataDir, databaseFile, restored, staging, asideName: `before-restore-${stamp}` });
    return { manifest: unpacked.manifest, aside };
  } finally {
    for (const folder of staging) rmSync(folder, { recursive: true, force: true });
    lock?.close();
  }
}

/** Makes what was unpacked fit to be used, on the disk to the last byte, and the daemon's own. */
function prepare(
  { databaseFile: copy, files }: UnpackedBackup, to: { readonly dataDir: string; readonly databaseFile: string; readonly stage: string },
) {
  const database = new Sqlite(copy);
  // The one it was taken by: it is not being made any more, and here it never failed.
  database.exec("delete from backups where running_key is not null");
  // One file then, with nothing beside it that would have to come along.
  database.pragma("journal_mode = DELETE");
  database.close();
  const restored = [
    { path: copy, to: to.databaseFile },
    ...files.map(({ name, path }) => {
      copyFileSync(path, join(to.stage, name), constants.COPYFILE_EXCL);
      return { path: join(to.stage, name), to: join(to.dataDir, name) };
    }),
  ];
  for (const { path, to: target } of restored) {
    giveTo(path, dirname(target));
    syncPath(path);
  }
  return restored;
}

/**
 * Holds a database so that nobody opens it until this is closed.
 * @returns Null where there is none.
 * @throws CollectorError `restore-refused` where somebody has it open.
 */
function lockDatabase(file: string): Sqlite.Database | null {
  if (!existsSync(file)) return null;
  const connection = new Sqlite(file, { timeout: 0 });
  try {
    // In this mode SQLite takes the whole file for itself, which it cannot while anybody else has it open.
    connection.pragma("locking_mode = EXCLUSIVE");
    connection.pragma("journal_mode = DELETE");
    connection.exec("begin exclusive; commit");
    return connection;
  } catch (cause) {
    connection.close();
    const isBusy = cause instanceof Sqlite.SqliteError && cause.code.startsWith("SQLITE_BUSY");
    if (!isBusy) return null;
    throw new CollectorError("restore-refused", `${file} is in use: stop the collector first (systemctl stop lanthorn-collector)`, { cause });
  }
}
