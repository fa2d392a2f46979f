import { readFileSync } from "node:fs";
import type { Clock } from "@lanthorn/runtime";
import type { Configuration } from "../../configuration.ts";
import { CollectorError } from "../../errors.ts";
import type { usingSecrets } from "../../sealing/using-secrets.ts";
import { type AgeIdentities, type AgeRecipients, parseIdentities, parsePassphrase, parseRecipients } from "../format/age-keys.ts";
import { countRows, type Manifest } from "../format/manifest.ts";
import type { ProgramsSettings } from "../postgres/programs.ts";
import { isSigner, readSigner, type Trust } from "../format/signing.ts";

/** What the commands of backups need of the process that runs them. */
export interface BackupCommandDependencies {
  readonly configuration: (file: string | null) => Configuration;
  readonly clock: Pick<Clock, "now">;
  readonly version: string;
  readonly print: (text: string) => void;
  readonly input: NodeJS.ReadableStream;
  readonly exit: (code: number) => void;
  /** Of this process, for those that it starts. */
  readonly environment: NonNullable<ProgramsSettings["environment"]>;
  /** Opens what the deployment keeps, for as long as `use` lasts. */
  readonly usingSecrets: typeof usingSecrets;
  /** The public keys that `backups recipients` has set. */
  readonly recipientsOf: (configuration: Configuration) => Promise<readonly string[]>;
}

/** The flag that most commands have. */
export interface Options {
  readonly config?: string;
}

/** The flag for the collector's configuration. */
export const configFlag = ["--config <file>", "the collector's configuration"] as const;
/** The flag for a file with a private key. */
export const keyFlag = ["--key <file>", "the file with the private key"] as const;
/** The flag for a file with a passphrase. */
export const passphraseFlag = ["--passphrase-file <file>", "the file with the passphrase, instead of keys"] as const;
/** The flag that names whose signature is accepted. */
export const signerFlag = [
  "--signer <key>", "the public key of its signer, ed25519:…; by default the one of this data directory",
] as const;
/** The flag that accepts a backup without a valid signature. */
export const unsignedFlag = ["--unsigned", "accepts it without a valid signature"] as const;

/** PostgreSQL's programs, for the processes that a command starts. */
export function programsOf({ environment }: Pick<BackupCommandDependencies, "environment">, { backups }: Configuration): ProgramsSettings {
  return { folder: backups.postgres_bin, environment };
}

/** Whose signature is accepted. */
export interface TrustOptions {
  readonly signer?: string;
  readonly unsigned?: boolean;
}

/** @throws CollectorError `backup-key-unusable` for what is no public key. */
export function trustOf({ signer, unsigned }: TrustOptions, { data_dir: dataDir }: Pick<Configuration, "data_dir">): Trust {
  if (signer !== undefined && unsigned === true) throw new CollectorError("backup-key-unusable", "give --signer or --unsigned, not both");
  if (unsigned === true) return "unsigned";
  if (signer !== undefined && !isSigner(signer)) {
    throw new CollectorError("backup-key-unusable", "--signer: expected ed25519:…, as lanthorn-collector backups signer shows it");
  }
  return { signer: signer ?? readSigner(dataDir) };
}

/** A passphrase instead of keys. */
export interface PassphraseOption {
  readonly passphraseFile?: string;
}

/** What opens a backup. */
export interface OpenOptions extends PassphraseOption {
  readonly key?: string;
}

/** @throws CollectorError `backup-key-unusable` for what is no key, for neither, and for both. */
export function readIdentities({ key, passphraseFile }: OpenOptions): AgeIdentities {
  if (key !== undefined && passphraseFile === undefined) return parseIdentities(readKeyFile(key));
  if (passphraseFile !== undefined && key === undefined) return parsePassphrase(readKeyFile(passphraseFile));
  throw new CollectorError("backup-key-unusable", "give one of --key and --passphrase-file");
}

/** For whom a backup is made: who is named, or whom the deployment names. */
export async function readRecipients(
  { recipient: named, passphraseFile }: PassphraseOption & { readonly recipient?: readonly string[] }, configuration: Configuration,
  recipientsOf: (configuration: Configuration) => Promise<readonly string[]>,
): Promise<AgeRecipients> {
  if (passphraseFile !== undefined) {
    if (named !== undefined) throw new CollectorError("backup-key-unusable", "give one of --recipient and --passphrase-file");
    return parsePassphrase(readKeyFile(passphraseFile));
  }
  const { recipients: fixed } = configuration.backups;
  const recipients = parseRecipients(named ?? (fixed.length > 0 ? fixed : await recipientsOf(configuration)));
  if (recipients.length > 0) return recipients;
  throw new CollectorError(
    "backup-failed", "no public key is set: create a key pair with `backups key`, and set its public key with `backups recipients`",
  );
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new CollectorError("backup-key-unusable", `cannot read ${path}`, { cause });
  }
}

/** A backup in a line, for the terminal. */
export function describe({ backup_id: id, created_at: at, version, database, files }: Manifest): string {
  const tables = Object.keys(database.tables).length;
  return `backup ${id} of ${at}, by version ${version}: `
    + `${countRows(database.tables)} rows in ${tables} tables of ${database.engine}, and ${files.length} files`;
}
