import { constants, copyFileSync, createReadStream, mkdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { syncPath } from "../../sealing/secret-file.ts";
import { prepareDataDir } from "../../data-dir.ts";
import type { DatabaseLocation } from "../../db/location.ts";
import { CollectorError } from "../../errors.ts";
import type { AgeIdentities } from "../format/age-keys.ts";
import type { Manifest } from "../format/manifest.ts";
import type { ProgramsSettings } from "../postgres/programs.ts";
import { findKeys, type MissingKey, missingKeys } from "../keys.ts";
import { type UnpackedBackup, unpackBackup } from "../read-backup.ts";
import { targetPostgres } from "../postgres/restore.ts";
import { targetSqlite } from "./restore-sqlite.ts";
import type { Trust } from "../format/signing.ts";
import { filesIn, giveTo, swapIn } from "./swap.ts";

interface Restored {
  readonly manifest: Manifest;
  /** Where what was there before is now, each in a few words. */
  readonly aside: readonly string[];
  /** Names of keys that were not in the backup and came from elsewhere. */
  readonly keys: readonly string[];
  readonly missing: readonly MissingKey[];
}

/**
 * Puts a backup in the place of what a data directory and its database have. Everything is unpacked, brought up and compared first; then
 * it is swapped in at once. What was there before is moved aside, never deleted. Backups themselves stay where they are.
 * Keys that the backup does not have come from a folder, or stay as they are; what is then missing is reported.
 * @param options.force Without it, only an empty data directory is taken.
 * @param options.stamp Tells this restore's folders apart.
 * @throws CollectorError `restore-refused` over a running collector or over what is there; as `unpackBackup`.
 */
export async function restoreBackup(options: {
  readonly file: string;
  readonly identities: AgeIdentities;
  readonly dataDir: string;
  readonly database: DatabaseLocation;
  readonly postgres?: ProgramsSettings;
  readonly force: boolean;
  readonly stamp: string;
  readonly trust: Trust;
  /** A folder with keys that were kept elsewhere; null without one. */
  readonly keysFolder: string | null;
  /** Names of keys that the configuration holds. */
  readonly configuredKeys: readonly string[];
}): Promise<Restored> {
  const { file, identities, database, force, stamp, trust } = options;
  const dataDir = resolve(options.dataDir);
  prepareDataDir(dataDir);
  const target = "file" in database ? targetSqlite(resolve(database.file)) : await targetPostgres(database, options.postgres ?? {});
  const stageIn = (folder: string) => join(folder, `.restore-${stamp}`);
  const unpackIn = stageIn(target.folder ?? dataDir);
  const staging = [...new Set([unpackIn, stageIn(dataDir)])];
  try {
    const occupied = target.present ?? filesIn(dataDir)[0];
    if (occupied !== undefined && !force) {
      throw new CollectorError(
        "restore-refused", `${dataDir} or its database is not empty (${occupied}): --force moves the existing content aside`,
      );
    }
    for (const folder of staging) mkdirSync(folder, { mode: 0o700 });
    const unpacked = await unpackBackup(createReadStream(file), { opener: { identities }, trust }, unpackIn, target.tools);
    const isComplete = unpacked.manifest.keys === "included" && options.keysFolder === null;
    const keys = isComplete ? [] : findKeys(dataDir, options.keysFolder);
    const files = [...unpacked.files.filter(({ name }) => !keys.some((key) => key.name === name)), ...keys];
    const present = new Set([...files.map(({ name }) => name), ...options.configuredKeys]);
    const missing = missingKeys(present, target.tools.engine);
    await target.prepare(unpacked.databaseFile, { keepsSecrets: present.has("sealing-key") });
    const restored = stageFiles({ databaseFile: unpacked.databaseFile, files }, { dataDir, databaseFile: target.databaseFile, stage: stageIn(dataDir) });
    // First the one that may be refused yet. Killed between the two, this is to be run once more.
    const before = await target.swap(stamp);
    const aside = swapIn({ dataDir, databaseFile: target.databaseFile, restored, staging, asideName: `before-restore-${stamp}` });
    return {
      manifest: unpacked.manifest, aside: [...(before === null ? [] : [before]), ...aside], keys: keys.map(({ name }) => name), missing,
    };
  } finally {
    for (const folder of staging) rmSync(folder, { recursive: true, force: true });
    await target.close();
  }
}

/** Makes what was unpacked ready to be moved, on the disk to the last byte, and the daemon's own. */
function stageFiles(
  { databaseFile: copy, files }: Pick<UnpackedBackup, "databaseFile" | "files">,
  to: { readonly dataDir: string; readonly databaseFile: string | null; readonly stage: string },
) {
  const restored = [
    ...(to.databaseFile === null ? [] : [{ path: copy, to: to.databaseFile }]),
    ...files.map(({ name, path }) => {
      const staged = join(to.stage, name);
      copyFileSync(path, staged, constants.COPYFILE_EXCL);
      return { path: staged, to: join(to.dataDir, name) };
    }),
  ];
  for (const { path, to: place } of restored) {
    giveTo(path, dirname(place));
    syncPath(path);
  }
  return restored;
}
