import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readTextFile, writeSecretFile } from "./certificates/key-file.ts";
import { CollectorError } from "./errors.ts";

/** Makes the directory where there is none. @throws CollectorError `data-dir-unusable`. */
export function prepareDataDir(dataDir: string): void {
  try {
    makeDirectory(resolve(dataDir));
    if (!statSync(dataDir).isDirectory()) throw new Error("it is no directory");
    accessSync(dataDir, constants.W_OK);
  } catch (cause) {
    throw new CollectorError("data-dir-unusable", `cannot use the data directory ${dataDir}: set data_dir to one that this user may write`, { cause });
  }
}

/** Not Node's own `recursive`, which never comes back from a place like /proc that refuses with "no such file". */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/**
 * A secret that the first who asks makes and all others find.
 * @param name Of its file in the data directory.
 * @returns The file's text, 64 letters of base64url.
 */
export function keptSecret(dataDir: string, name: string): Uint8Array {
  const path = join(dataDir, name);
  writeSecretFile(path, `${randomBytes(48).toString("base64url")}\n`, { replace: false });
  return new TextEncoder().encode(readTextFile(path)?.trim());
}

/** A certificate or key that the configuration names. @throws CollectorError `certificate-unusable`. */
export function readPem(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new CollectorError("certificate-unusable", `cannot read ${path}`, { cause });
  }
}
