import { resolve } from "node:path";
import { toInstant } from "@lanthorn/runtime";
import type { Command } from "commander";
import { CollectorError } from "../../errors.ts";
import { writeSecretFile } from "../../sealing/secret-file.ts";
import { generateIdentity } from "../format/age-keys.ts";
import { secretsOf } from "../data-files.ts";
import { exportKeys } from "../keys.ts";
import { readSigner } from "../format/signing.ts";
import { type BackupCommandDependencies, configFlag, type Options } from "./options.ts";

/** `backups key`, `backups signer` and `backups keys`: the keys of backups, and the deployment's own. */
export function addKeyCommands(backups: Command, deps: BackupCommandDependencies): void {
  const { print, clock } = deps;
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
}
