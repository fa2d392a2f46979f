/** Zones as they were transferred last, so that only their changes are asked for: a file for each list, beside the lists of operators. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const FOLDER = ".zones";
/** A file that is being written has this behind its name. */
const UNFINISHED = ".new";

/** Where they lie. @param directory That of the lists. */
export function zonesFolder(directory: string): string {
  return join(directory, FOLDER);
}

/** Deletes what is there of a list's zone. */
export async function removeZone(directory: string, listId: string): Promise<void> {
  for (const name of [listId, `${listId}${UNFINISHED}`]) await rm(join(zonesFolder(directory), name), { force: true });
}

/**
 * Deletes zones of lists that are gone, as those that another collector deleted, or that went with their tenant.
 * @param existing Which of some lists are there. @returns How many files went.
 */
export async function removeStrayZones(directory: string, existing: (ids: readonly string[]) => Promise<ReadonlySet<string>>): Promise<number> {
  const files = await readdir(zonesFolder(directory)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const idOf = (file: string) => (file.endsWith(UNFINISHED) ? file.slice(0, -UNFINISHED.length) : file);
  const there = await existing([...new Set(files.map(idOf))]);
  const stray = files.filter((file) => !there.has(idOf(file)));
  for (const file of stray) await rm(join(zonesFolder(directory), file), { force: true, recursive: true });
  return stray.length;
}
