/** Leaves a version of a bundle where another user reads it: a folder that is never changed, and a file beside it that says which one counts. */
import { chmod, copyFile, link, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BundleStore } from "../bundles/store.ts";
import { MANIFEST } from "../bundles/manifest.ts";

/** File that names the folder that counts. */
export const CURRENT = "current";
const FOLDER = /^[0-9a-f]{64}(?:\.new)?$/;

/**
 * Copies the current version of a bundle, unless it is there. It takes the place of the one before by renaming, so a reader finds one of
 * them whole whenever this ends, and however.
 * @param directory Exists; the group of what is made in it is the readers' (set-group-ID).
 * @returns Whether another version counts now.
 * @throws NodeJS.ErrnoException as the file system says; what counted before counts.
 */
export async function shareVersion(store: Pick<BundleStore, "versions" | "filesOf">, home: string, directory: string): Promise<boolean> {
  const { current } = store.versions();
  const before = await sharedVersion(directory);
  if (current === before) return false;
  if (current !== null) await copyFolder({ from: join(home, current), files: store.filesOf(join(home, current)), to: join(directory, current), like: before && join(directory, before) });
  await writePointer(directory, current);
  for (const entry of await readdir(directory)) if (FOLDER.test(entry) && entry !== current) await rm(join(directory, entry), { recursive: true, force: true });
  return true;
}

/** @returns The version that counts; null for none. */
async function sharedVersion(directory: string): Promise<string | null> {
  const text = await readFile(join(directory, CURRENT), "utf8").catch(() => "");
  return /^[0-9a-f]{64}$/.test(text.trim()) ? text.trim() : null;
}

/** @param given.like The version before: files that it has, too, are the same ones. */
async function copyFolder({ from, files, to, like }: { readonly from: string; readonly files: readonly string[]; readonly to: string; readonly like: string | null }): Promise<void> {
  const unfinished = `${to}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await rm(to, { recursive: true, force: true });
  await mkdir(unfinished);
  const folders = new Set(files.map((file) => dirname(file)).filter((folder) => folder !== "."));
  for (const folder of folders) await mkdir(join(unfinished, folder));
  for (const file of [...files, MANIFEST]) {
    const place = join(unfinished, file);
    // Parts are named by what is in them; others may say something else by the same name.
    if (like !== null && file.includes("/") && await link(join(like, file), place).then(() => true, () => false)) continue;
    await copyFile(join(from, file), place);
    await chmod(place, 0o640);
    await syncPath(place);
  }
  for (const folder of [...[...folders].map((one) => join(unfinished, one)), unfinished]) {
    await chmod(folder, 0o750);
    await syncPath(folder);
  }
  await rename(unfinished, to);
}

async function writePointer(directory: string, version: string | null): Promise<void> {
  const [path, unfinished] = [join(directory, CURRENT), join(directory, `${CURRENT}.new`)];
  await rm(unfinished, { force: true });
  const file = await open(unfinished, "wx", 0o640);
  try {
    await file.chmod(0o640);
    await file.writeFile(`${version ?? ""}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
  await syncPath(directory);
}

async function syncPath(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
