import type { Command } from "commander";
import { toInstant } from "@lanthorn/runtime";
import { secretsOf } from "../data-files.ts";
import { restoreBackup } from "../restore/restore.ts";
import {
  type BackupCommandDependencies, configFlag, describe, keyFlag, type OpenOptions, type Options, passphraseFlag, programsOf, readIdentities,
  signerFlag, trustOf, type TrustOptions, unsignedFlag,
} from "./options.ts";

/** `restore`: puts a backup in the place of the data directory and the database. */
export function addRestoreCommand(program: Command, deps: BackupCommandDependencies): void {
  const { print, clock } = deps;
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
        file, identities: readIdentities(options), dataDir, database, postgres: programsOf(deps, configuration), force, stamp,
        trust: trustOf(options, configuration), keysFolder: options.keys ?? null, configuredKeys: Object.keys(secretsOf(configuration)),
      });
      print(`restored: ${describe(manifest)}`);
      if (keys.length > 0) print(`keys from ${options.keys ?? "this data directory"}: ${keys.join(", ")}`);
      for (const { name, meaning } of missing) print(`missing: ${name}; ${meaning}`);
      for (const place of aside) print(`the previous content is in ${place}`);
      print("start the collector: systemctl start lanthorn-collector");
    });
}
