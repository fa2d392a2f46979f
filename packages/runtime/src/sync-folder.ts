import { open } from "node:fs/promises";

/**
 * Waits until a folder's names are on the disk: a file that was made, renamed or removed there is so after a power cut once this has
 * resolved.
 * @throws NodeJS.ErrnoException as the file system says. @see fsync(2)
 */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
