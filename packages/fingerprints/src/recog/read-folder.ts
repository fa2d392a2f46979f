import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { FingerprintsError } from "../errors.ts";
import { MAX_FILE_BYTES, readRecogFile, type RecogFile } from "./read-database.ts";

const MAX_FILES = 500;

/**
 * Reads every `.xml` file of a folder, in the order of their names.
 * @throws FingerprintsError `data-unreadable` naming the file, and `data-invalid` naming the file and what is wrong in it.
 */
export function readRecogFolder(folder: string): readonly RecogFile[] {
  const names = orThrow(folder, () => readdirSync(folder)).filter((name) => name.endsWith(".xml")).toSorted();
  if (names.length === 0 || names.length > MAX_FILES) {
    throw new FingerprintsError("data-invalid", `${folder} holds ${names.length} .xml files, not 1 to ${MAX_FILES}`);
  }
  return names.map((name) => {
    const path = join(folder, name);
    const text = orThrow(path, () => readBounded(path)).toString("utf8");
    const read = readRecogFile(text, {
      name: basename(name, ".xml"), readExample: (fileName) => readExample(join(folder, basename(name, ".xml")), fileName),
    });
    if (!read.ok) throw new FingerprintsError("data-invalid", `${path}: ${read.reason}`);
    return read.file;
  });
}

/** Examples lie in a folder called as the database; what would lie outside it is not there. */
function readExample(folder: string, fileName: string): Uint8Array | null {
  const path = resolve(folder, fileName);
  if (!path.startsWith(resolve(folder) + sep)) return null;
  try {
    return readBounded(path);
  } catch {
    return null;
  }
}

/** @throws Error where there is no such file, or it is larger than a database may be. */
export function readBounded(path: string): Buffer {
  if (statSync(path).size > MAX_FILE_BYTES) throw new Error("it is larger than 2 MiB");
  return readFileSync(path);
}

function orThrow<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new FingerprintsError("data-unreadable", `cannot read ${path}`, { cause });
  }
}
