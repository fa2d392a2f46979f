import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Configuration } from "./configuration.ts";
import { CollectorError } from "./errors.ts";
import type { KeptSecrets } from "./sealing/kept-secrets.ts";

/** Makes the directory where there is none. @throws CollectorError `data-dir-unusable`. */
export function prepareDataDir(dataDir: string): void {
  try {
    makeDirectory(resolve(dataDir));
    if (!statSync(dataDir).isDirectory()) throw new Error("it is not a directory");
    accessSync(dataDir, constants.W_OK);
  } catch (cause) {
    throw new CollectorError(
      "data-dir-unusable", `cannot use the data directory ${dataDir}: set data_dir to a directory that this user may write`, { cause },
    );
  }
}

/** Not Node's own `recursive`, which never comes back from a place like /proc that refuses with "no such file". */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/** With which tokens are signed: what the configuration gives, else 64 letters of base64url that the first start has made. */
export async function tokenSecret({ token }: Pick<Configuration, "token">, secrets: KeptSecrets): Promise<Uint8Array> {
  if (token.secret !== undefined) return new TextEncoder().encode(token.secret);
  const made = await secrets.keep("token-secret", () => Promise.resolve(newTokenSecret()));
  return new TextEncoder().encode(made.trim());
}

/** The text of `token-secret`. */
export function newTokenSecret(): string {
  return `${randomBytes(48).toString("base64url")}\n`;
}

/** A certificate or key that the configuration names. @throws CollectorError `certificate-unusable`. */
export function readPem(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new CollectorError("certificate-unusable", `cannot read ${path}`, { cause });
  }
}
