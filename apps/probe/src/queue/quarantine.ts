import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** A file that could not be used, and where it is now. */
export interface Quarantined {
  readonly path: string;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Enough to look into what happened; more would fill the disk of a machine whose disk is failing. */
const KEPT_FILES = 2;

/** What SQLite keeps beside a database; a log left there would be played into the new file. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

/** Moves a database and its companions to `<path>.<label>-<time>`, and removes all but the newest few of such files. */
export function setAside(path: string, label: "corrupt" | "former", reason: string, at: number): Quarantined {
  const target = `${path}.${label}-${new Date(at).toISOString().replaceAll(/[:.]/g, "-")}`;
  for (const companion of ["", ...COMPANIONS]) {
    if (existsSync(path + companion)) renameSync(path + companion, target + companion);
  }
  const prefix = `${basename(path)}.${label}-`;
  const names = readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && !COMPANIONS.some((companion) => name.endsWith(companion)));
  for (const name of names.toSorted().slice(0, -KEPT_FILES)) {
    for (const companion of ["", ...COMPANIONS]) rmSync(join(dirname(path), name + companion), { force: true });
  }
  return { path: target, reason, at };
}
