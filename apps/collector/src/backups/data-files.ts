import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { DatabaseLocation } from "../db/location.ts";
import { FILE_NAME, MAX_FILE_BYTES } from "./format/manifest.ts";
import { SIGNER_FILE } from "./format/signing.ts";

/** What anybody may have. All else in the data directory is taken for a key. */
const PUBLIC_FILES: ReadonlySet<string> = new Set(["ca.crt", SIGNER_FILE]);

/** Whether a file of the data directory belongs into a backup without keys. */
export function isPublicFile(name: string): boolean {
  return PUBLIC_FILES.has(name);
}

/**
 * What of a data directory a restore needs beside the database: its small plain files, which are keys and certificates.
 * @param location A file is not among them, nor what SQLite has beside it.
 */
export function listDataFiles(dataDir: string, location: DatabaseLocation): readonly { readonly name: string; readonly path: string }[] {
  const database = "file" in location ? basename(location.file) : null;
  return readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && FILE_NAME.test(entry.name) && !(database !== null && entry.name.startsWith(database)))
    .map(({ name }) => ({ name, path: join(dataDir, name) }))
    .filter(({ path }) => statSync(path).size <= MAX_FILE_BYTES)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** What the configuration holds in the place of files of the data directory. */
export function secretsOf({ sealing_key: sealingKey, token }: {
  readonly sealing_key?: string | undefined; readonly token: { readonly secret?: string | undefined };
}): Readonly<Record<string, string>> {
  return {
    ...(sealingKey !== undefined && { "sealing-key": `${sealingKey}\n` }),
    ...(token.secret !== undefined && { "token-secret": `${token.secret}\n` }),
  };
}
