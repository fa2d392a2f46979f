import { randomUUID } from "node:crypto";
import {
  closeSync, existsSync, fchownSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync, writeSync,
} from "node:fs";
import { dirname } from "node:path";

/**
 * Writes a file that only its owner may read, whole or not at all, whatever dies in between.
 * @param options.replace Without it an existing file stays as it is.
 * @returns False when the file was there already and `replace` was not set.
 */
export function writeSecretFile(path: string, text: string, options: { readonly replace: boolean }): boolean {
  const draft = `${path}.${randomUUID()}`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeSync(file, text);
      if (options.replace) keepOwner(file, path);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (options.replace) renameSync(draft, path);
    // A link, unlike a rename, fails when another process was first.
    else linkSync(draft, path);
    syncPath(dirname(path));
    return true;
  } catch (error) {
    if (!options.replace && (error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Root, who replaces a daemon's file, leaves it to the daemon. */
function keepOwner(file: number, path: string): void {
  if (process.getuid?.() !== 0 || !existsSync(path)) return;
  const { uid, gid } = statSync(path);
  fchownSync(file, uid, gid);
}

/** Waits until a file's bytes, or a directory's names, are on the disk: else they may be lost with the power. */
export function syncPath(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
