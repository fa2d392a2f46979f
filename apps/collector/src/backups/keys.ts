import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { writeSecretFile } from "../sealing/secret-file.ts";
import { CollectorError } from "../errors.ts";
import type { KeptSecrets } from "../sealing/kept-secrets.ts";
import type { Engine } from "./format/manifest.ts";
import { SIGNING_KEY_NAME } from "./format/signing.ts";

/** Keys of a deployment by the files that hold them, and what a restore without one of them means. */
const KEYS = {
  "sealing-key": "vault credentials, webhook secrets and stored configurations cannot be decrypted: enter them again",
  "ca.pem": "a new certificate authority is created: enroll every probe again",
  "token-secret": "a new one is created: every user must log in again",
  [SIGNING_KEY_NAME]: "a new one is created: restore older backups with --signer",
} as const;
type KeyName = keyof typeof KEYS;
const KEY_NAMES = Object.keys(KEYS) as readonly KeyName[];

interface KeyFile {
  readonly name: KeyName;
  readonly path: string;
}

/** A key that a restore could not put in place, and what that means. */
export interface MissingKey {
  readonly name: string;
  readonly meaning: string;
}

/**
 * Keys for a restored data directory that are not in the backup: from the folder that the operator names, else those that are there.
 * @throws CollectorError `restore-refused` for a folder without keys.
 */
export function findKeys(dataDir: string, folder: string | null): readonly KeyFile[] {
  const within = (place: string): readonly KeyFile[] => KEY_NAMES.map((name): KeyFile => ({ name, path: join(place, name) })).filter(({ path }) => existsSync(path));
  if (folder === null) return within(dataDir);
  const found = within(resolve(folder));
  if (found.length === 0) throw new CollectorError("restore-refused", `${folder} holds no keys: ${KEY_NAMES.join(", ")}`);
  return found;
}

/**
 * What is missing after a restore.
 * @param present Names of files, and of what the configuration has in their place.
 */
export function missingKeys(present: ReadonlySet<string>, engine: Engine): readonly MissingKey[] {
  // In PostgreSQL the database holds the others, sealed with this one.
  const needed = engine === "postgres" && present.has("sealing-key") ? (["sealing-key"] as const) : KEY_NAMES;
  return needed.filter((name) => !present.has(name)).map((name) => ({ name, meaning: KEYS[name] }));
}

/**
 * Writes a deployment's keys into a new folder, for a place away from this machine: backups are without them.
 * @param given Those that the configuration or the data directory holds, by their names.
 * @returns The files.
 * @throws CollectorError `backup-failed` where the folder has something, or the collector has never been started.
 */
export async function exportKeys(
  { secrets, dataDir, folder, given }: {
    readonly secrets: KeptSecrets; readonly dataDir: string; readonly folder: string; readonly given: Readonly<Record<string, string>>;
  },
): Promise<readonly string[]> {
  const to = resolve(folder);
  mkdirSync(to, { recursive: true, mode: 0o700 });
  if (readdirSync(to).length > 0) throw new CollectorError("backup-failed", `${folder} is not empty`);
  for (const name of ["ca.pem", "token-secret", SIGNING_KEY_NAME] as const) {
    writeSecretFile(join(to, name), given[name] ?? (await secrets.keep(name, () => Promise.reject(notStarted(name)))), { replace: false });
  }
  const sealingKey = given["sealing-key"];
  if (sealingKey === undefined) copyFileSync(join(dataDir, "sealing-key"), join(to, "sealing-key"));
  else writeSecretFile(join(to, "sealing-key"), sealingKey, { replace: false });
  return KEY_NAMES.map((name) => join(to, name));
}

/** @returns The private key that backups are signed with, PEM. @throws CollectorError `backup-failed` before the first start. */
export function readSigningKey(secrets: KeptSecrets): Promise<string> {
  return secrets.keep(SIGNING_KEY_NAME, () => Promise.reject(notStarted(SIGNING_KEY_NAME)));
}

/** Made here, by root, it would be unreadable for the collector's own user. */
function notStarted(name: string): CollectorError {
  return new CollectorError("backup-failed", `there is no ${name} yet: start the collector once, it creates one`);
}
