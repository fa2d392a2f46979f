import { readFileSync } from "node:fs";

/** @returns The file's text, or null where there is none. Any other failure is thrown as it is. */
export function readTextFile(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
