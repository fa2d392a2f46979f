import { chmodSync, chownSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Replaces a file so that whoever reads it, and whatever crashes, finds the old text whole or the new one.
 * @param options.mode Octal, as 0o600; it holds from the first byte on.
 * @param options.durable Also after a power cut: waits for the disk.
 * @throws NodeJS.ErrnoException as the file system says.
 */
export function writeFileAtomically(path: string, text: string, options: { readonly mode: number; readonly durable: boolean }): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  const file = openSync(temporary, "wx", options.mode);
  try {
    // The process's umask may have taken rights away that the file is to have.
    chmodSync(temporary, options.mode);
    writeSync(file, text);
    if (options.durable) fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  if (options.durable) syncDirectory(dirname(path));
}

/** Gives what root has made in a data directory to whom the directory belongs: the service's user, who is to read and remove it. */
export function giveToOwner(dataDir: string, made: readonly string[]): void {
  const owner = statSync(dataDir);
  if (process.getuid?.() !== 0 || owner.uid === 0) return;
  for (const path of made) chownSync(path, owner.uid, owner.gid);
}

/** A rename is on the disk once the directory is. */
function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
