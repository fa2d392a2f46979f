import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as z from "zod";
import { readTextFile } from "@lanthorn/runtime";
import { syncPath, writeSecretFile } from "../../sealing/secret-file.ts";

/**
 * Puts what was restored in the place of what is there: all of it or nothing, whatever dies in between. What is to be done
 * is written down first; from then on it is done, if not now, then by whoever opens the data directory next.
 */

/** In the data directory, while a swap is under way. */
const JOURNAL_NAME = "restore-journal";

const Move = z.object({ from: z.string(), to: z.string() });
const Journal = z.object({ aside: z.array(Move), inPlace: z.array(Move), staging: z.array(z.string()) });
type Journal = z.infer<typeof Journal>;

interface Swap {
  readonly dataDir: string;
  /** Null where the database is no file. */
  readonly databaseFile: string | null;
  /** What comes, ready on the same file systems as where it goes. */
  readonly restored: readonly { readonly path: string; readonly to: string }[];
  /** Folders that are of no more use afterwards. */
  readonly staging: readonly string[];
  /** The name of the folder beside each file, into which what was there goes. */
  readonly asideName: string;
}

/** @returns The folders in which lies what was there before; none where nothing was. */
export function swapIn({ dataDir, databaseFile, restored, staging, asideName }: Swap): readonly string[] {
  // SQLite's own files beside the old database would be taken for the new one's.
  const database = databaseFile === null ? [] : ["", "-wal", "-shm", "-journal"].map((ending) => `${databaseFile}${ending}`);
  const old = [...filesIn(dataDir).map((name) => join(dataDir, name)), ...database, ...restored.map(({ to }) => to)];
  const aside = [...new Set(old)].filter((path) => existsSync(path))
    .map((path) => ({ from: path, to: join(dirname(path), asideName, basename(path)) }));
  const journal: Journal = { aside, inPlace: restored.map(({ path, to }) => ({ from: path, to })), staging: [...staging] };
  writeSecretFile(join(dataDir, JOURNAL_NAME), JSON.stringify(journal), { replace: true });
  carryOut(dataDir, journal);
  return [...new Set(aside.map(({ to }) => dirname(to)))];
}

/** Ends a swap that was begun and not ended. @returns Whether there was one. */
export function finishSwap(dataDir: string): boolean {
  const text = readTextFile(join(dataDir, JOURNAL_NAME));
  if (text === null) return false;
  carryOut(dataDir, Journal.parse(JSON.parse(text)));
  return true;
}

/** Each step is done once, however often this is called. */
function carryOut(dataDir: string, { aside, inPlace, staging }: Journal): void {
  for (const { from, to } of aside) {
    makeFolder(dirname(to), dirname(from));
    // Once the old file is aside, what lies in its place is the new one.
    if (existsSync(from) && !existsSync(to)) renameSync(from, to);
  }
  for (const { from, to } of inPlace) if (existsSync(from)) renameSync(from, to);
  for (const folder of new Set([dataDir, ...[...aside, ...inPlace].map(({ to }) => dirname(to))])) syncPath(folder);
  rmSync(join(dataDir, JOURNAL_NAME), { force: true });
  syncPath(dataDir);
  for (const folder of staging) rmSync(folder, { recursive: true, force: true });
}

/** As the folder it lies in: what root puts there is the daemon's. */
function makeFolder(path: string, like: string): void {
  if (existsSync(path)) return;
  mkdirSync(path, { mode: 0o700 });
  giveTo(path, like);
}

/** Makes a file belong to whoever has the folder. Only root may; for all others it is theirs already. */
export function giveTo(path: string, folder: string): void {
  const { uid, gid } = statSync(folder);
  const own = lstatSync(path);
  if (own.uid !== uid || own.gid !== gid) chownSync(path, uid, gid);
}

/** Plain files of a folder, but for the journal. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== JOURNAL_NAME,
  ).map(({ name }) => name);
}
