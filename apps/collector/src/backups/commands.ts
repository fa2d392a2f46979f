import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Command } from "commander";
import { writeSecretFile } from "../secret-file.ts";
import type { Configuration } from "../configuration.ts";
import { parseLocation } from "../db/location.ts";
import { CollectorError } from "../errors.ts";
import { type AgeIdentities, type AgeRecipients, generateIdentity, parseIdentities, parsePassphrase, parseRecipients } from "./age-keys.ts";
import { secretsOf } from "./data-files.ts";
import { createDatabaseTools } from "./database-tools.ts";
import { serveTask } from "../jobs/process.ts";
import { backupTask } from "./job.ts";
import { countRows, type Manifest } from "./manifest.ts";
import type { ProgramsSettings } from "./postgres-programs.ts";
import { unpackBackup } from "./read-backup.ts";
import { exportKeys, readSigningKey } from "./keys.ts";
import { createSigner, isSigner, readSigner, type Trust } from "./signing.ts";
import type { usingSecrets } from "../sealing/using-secrets.ts";
import { restoreBackup } from "./restore.ts";
import { writeBackup } from "./write-backup.ts";

interface Options {
  readonly config?: string;
}

/**
 * `backups …` and `restore`: for who has the machine, while the daemon runs or, to restore, does not.
 * @returns `backups`, for further commands of it.
 */
export function addBackupCommands(program: Command, deps: {
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
}): Command {
  const { print, clock } = deps;
  const backups = program.command("backups").description("copies of the whole deployment, which only the operator's private key decrypts");
  const programsOf = (
    { backups: { postgres_bin: folder } }: Configuration
  ): ProgramsSettings => ({ folder, environment: deps.environment });
  const configFlag = ["--config <file>", "the collector's configuration"] as const;
  const keyFlag = ["--key <file>", "the file with the private key"] as const;
  const passphraseFlag = ["--passphrase-file <file>", "the file with the passphrase, instead of keys"] as const;
  const signerFlag = [
    "--signer <key>", "the public key of its signer, ed25519:…; by default the one of this data directory",
  ] as const;
  const unsignedFlag = ["--unsigned", "accepts it without a valid signature"] as const;

  backups.command("key").description(
    "makes a pair of keys: the public one for the configuration, the private one to be kept away from this machine",
  )
    .requiredOption("--out <file>", "file for the private key")
    .action(async ({ out }: { readonly out: string }) => {
      const { recipient, identity } = await generateIdentity();
      const text = `# Lanthorn backups, made ${toInstant(clock.now())}\n# public key: ${recipient}\n${identity}\n`;
      if (!writeSecretFile(resolve(out), text, { replace: false })) {
        throw new CollectorError("backup-key-unusable", `${out} exists already`);
      }
      print(`public key: ${recipient}`);
    });
  backups.command("signer").description("shows the public key that signs this deployment's backups: store it with the private key")
    .option(...configFlag)
    .action(({ config }: Options) => {
      const signer = readSigner(deps.configuration(config ?? null).data_dir);
      if (signer === null) throw new CollectorError("backup-failed", "there is no key yet: start the collector once, it creates one");
      print(signer);
    });
  backups.command("keys").description("writes the deployment's own keys, which backups are without, for a place away from this machine")
    .requiredOption("--out <folder>", "an empty folder").option(...configFlag)
    .action(async ({ out, config }: Options & { readonly out: string }) => {
      const configuration = deps.configuration(config ?? null);
      const files = await deps.usingSecrets(
        configuration, (secrets, dataDir) => exportKeys({ secrets, dataDir, folder: out, given: secretsOf(configuration) }),
      );
      print(files.join("\n"));
    });
  backups.command("create").description("makes a backup, whether the daemon runs or not; the daemon's list does not show it")
    .requiredOption("--out <file>", "the backup's file; it must not exist").option(...configFlag)
    .option("--recipient <keys...>", "public keys to encrypt it to, instead of the configuration's").option(...passphraseFlag)
    .action(async (options: Options & PassphraseOption & { readonly out: string; readonly recipient?: readonly string[] }) => {
      const { out, config } = options;
      const configuration = deps.configuration(config ?? null);
      const { data_dir: dataDir, database_location: database } = configuration;
      const file = resolve(out);
      if (existsSync(file)) throw new CollectorError("backup-failed", `${out} exists already`);
      if ("file" in database && !existsSync(database.file)) {
        throw new CollectorError("backup-failed", `there is no database ${database.file}: start the collector once`);
      }
      const recipients = await readRecipients(options, configuration, deps.recipientsOf);
      const signer = createSigner(await deps.usingSecrets(configuration, (secrets) => readSigningKey(secrets)));
      const { sizeBytes, sha256, rows } = await writeBackup({
        id: createId(), version: deps.version, createdAt: toInstant(clock.now()), dataDir, database, secrets: secretsOf(configuration),
        recipients, directory: dirname(file), name: basename(file), includeKeys: configuration.backups.include_keys, signer,
      }, createDatabaseTools(database, programsOf(configuration)));
      print(`${file}: ${sizeBytes} bytes, ${rows} rows, read back and compared\nsha256 ${sha256}\nsigner ${signer.publicKey}`);
    });
  backups.command("verify <file>").description("restores a backup into a scratch directory and verifies its content")
    .option(...keyFlag).option(...passphraseFlag).option("--scratch <directory>", "directory with enough free space", tmpdir())
    .option("--database <url>", "for PostgreSQL: a server on which a database may be created, instead of the configuration's")
    .option(...signerFlag).option(...unsignedFlag).option(...configFlag)
    .action(async (
      file: string, options: Options & TrustOptions & OpenOptions & { readonly scratch: string; readonly database?: string },
    ) => {
      const identities = readIdentities(options);
      const configuration = deps.configuration(options.config ?? null);
      const location = options.database === undefined ? configuration.database_location : parseLocation(options.database);
      if (!location) throw new CollectorError("backup-failed", "--database: postgres://user@host:5432/name");
      const scratch = mkdtempSync(join(options.scratch, "lanthorn-verify-"));
      try {
        const { manifest } = await unpackBackup(
          createReadStream(file), { opener: { identities }, trust: trustOf(options, configuration) }, scratch, createDatabaseTools(location, programsOf(configuration)),
        );
        print(`whole: ${describe(manifest)}`);
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    });
  program.command("restore <file>").description("replaces the content of the data directory with a backup; the daemon must not run")
    .option(...keyFlag).option(...passphraseFlag).option("--force", "moves the existing content aside", false)
    .option("--keys <folder>", "the deployment's own keys, as `backups keys` wrote them, for a backup without them")
    .option(...signerFlag).option(...unsignedFlag).option(...configFlag)
    .action(async (
      file: string, options: Options & TrustOptions & OpenOptions & { readonly force: boolean; readonly keys?: string },
    ) => {
      const { force } = options;
      const configuration = deps.configuration(options.config ?? null);
      const { data_dir: dataDir, database_location: database } = configuration;
      const stamp = toInstant(clock.now()).replaceAll(/[-:]|\.\d+/g, "");
      const { manifest, aside, keys, missing } = await restoreBackup({
        file, identities: readIdentities(options), dataDir, database, postgres: programsOf(configuration), force, stamp,
        trust: trustOf(options, configuration), keysFolder: options.keys ?? null, configuredKeys: Object.keys(secretsOf(configuration)),
      });
      print(`restored: ${describe(manifest)}`);
      if (keys.length > 0) print(`keys from ${options.keys ?? "this data directory"}: ${keys.join(", ")}`);
      for (const { name, meaning } of missing) print(`missing: ${name}; ${meaning}`);
      for (const place of aside) print(`the previous content is in ${place}`);
      print("start the collector: systemctl start lanthorn-collector");
    });
  program.command(backupTask.command, { hidden: true }).action(async () => {
    const code = await serveTask(backupTask, deps);
    deps.exit(code);
  });
  return backups;
}

interface TrustOptions {
  readonly signer?: string;
  readonly unsigned?: boolean;
}

/** @throws CollectorError `backup-key-unusable` for what is no public key. */
function trustOf({ signer, unsigned }: TrustOptions, { data_dir: dataDir }: Pick<Configuration, "data_dir">): Trust {
  if (signer !== undefined && unsigned === true) throw new CollectorError("backup-key-unusable", "give --signer or --unsigned, not both");
  if (unsigned === true) return "unsigned";
  if (signer !== undefined && !isSigner(signer)) {
    throw new CollectorError("backup-key-unusable", "--signer: expected ed25519:…, as lanthorn-collector backups signer shows it");
  }
  return { signer: signer ?? readSigner(dataDir) };
}

interface PassphraseOption {
  readonly passphraseFile?: string;
}

interface OpenOptions extends PassphraseOption {
  readonly key?: string;
}

/** @throws CollectorError `backup-key-unusable` for what is no key, for neither, and for both. */
function readIdentities({ key, passphraseFile }: OpenOptions): AgeIdentities {
  if (key !== undefined && passphraseFile === undefined) return parseIdentities(readKeyFile(key));
  if (passphraseFile !== undefined && key === undefined) return parsePassphrase(readKeyFile(passphraseFile));
  throw new CollectorError("backup-key-unusable", "give one of --key and --passphrase-file");
}

/** For whom a backup is made: who is named, or whom the deployment names. */
async function readRecipients(
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

function describe({ backup_id: id, created_at: at, version, database, files }: Manifest): string {
  const tables = Object.keys(database.tables).length;
  return `backup ${id} of ${at}, by version ${version}: `
    + `${countRows(database.tables)} rows in ${tables} tables of ${database.engine}, and ${files.length} files`;
}
