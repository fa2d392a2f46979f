import { createReadStream, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { createId, toInstant } from "@lanthorn/runtime";
import type { Command } from "commander";
import { parseLocation } from "../../db/location.ts";
import { CollectorError } from "../../errors.ts";
import { secretsOf } from "../data-files.ts";
import { createDatabaseTools } from "../database-tools.ts";
import { readSigningKey } from "../keys.ts";
import { unpackBackup } from "../read-backup.ts";
import { createSigner } from "../format/signing.ts";
import { writeBackup } from "../write-backup.ts";
import {
  type BackupCommandDependencies, configFlag, describe, keyFlag, type OpenOptions, type Options, passphraseFlag, type PassphraseOption,
  programsOf, readIdentities, readRecipients, signerFlag, trustOf, type TrustOptions, unsignedFlag,
} from "./options.ts";

/** `backups create`: a backup beside the daemon's. */
export function addCreateCommand(backups: Command, deps: BackupCommandDependencies): void {
  const { print, clock } = deps;
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
      }, createDatabaseTools(database, programsOf(deps, configuration)));
      print(`${file}: ${sizeBytes} bytes, ${rows} rows, read back and compared\nsha256 ${sha256}\nsigner ${signer.publicKey}`);
    });
}

/** `backups verify`: restores a backup beside what there is, and reads it. */
export function addVerifyCommand(backups: Command, deps: BackupCommandDependencies): void {
  const { print } = deps;
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
          createReadStream(file), { opener: { identities }, trust: trustOf(options, configuration) }, scratch, createDatabaseTools(location, programsOf(deps, configuration)),
        );
        print(`whole: ${describe(manifest)}`);
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    });
}
