import type { Command } from "commander";
import type { Configuration } from "../configuration.ts";
import { newTokenSecret } from "../data-dir.ts";
import { withDatabase } from "./database-command.ts";
import { CollectorError } from "../errors.ts";
import type { usingSecrets } from "../sealing/using-secrets.ts";
import { addKey, openKeyring } from "../sealing/keyring.ts";
import { resealAll } from "../sealing/reseal-store.ts";
import { createSealing } from "../sealing/sealing.ts";

interface Options {
  readonly config?: string;
}

/** `admin rotate-…`: other keys for a deployment, from the collector's machine. */
export function addRotationCommands(admin: Command, deps: {
  readonly configuration: (file: string | null) => Configuration;
  readonly usingSecrets: typeof usingSecrets;
  readonly print: (text: string) => void;
}): void {
  const { print } = deps;
  const add = (name: string, description: string, rotate: (configuration: Configuration) => Promise<void>) =>
    admin.command(name).description(description)
      .option("--config <file>", "the collector's configuration file, which names its database and its keys")
      .action((options: Options) => rotate(deps.configuration(options.config ?? null)));

  add(
    "rotate-sealing-key",
    "seals every secret in the database anew: with a new key, or with the first one where the configuration gives the keys",
    (configuration) => withDatabase(configuration, async (db) => {
      const { data_dir: dataDir, sealing_key: given } = configuration;
      const sealing = createSealing(openKeyring(dataDir, given));
      // What was left by a rotation that did not come to its end would need the key that the next one forgets.
      await resealAll(db, sealing);
      if (given === undefined) addKey(dataDir);
      print(`${await resealAll(db, sealing)} secrets are sealed with `
        + (given === undefined ? "a new key; a running collector has it already" : "the first key"));
    }),
  );

  add(
    "rotate-token-secret",
    "creates a new secret that signs tokens: after a restart of every collector, every user must log in again",
    async (configuration) => {
      const { secret, key_file: keyFile } = configuration.token;
      if (secret !== undefined) {
        throw new CollectorError("admin-refused", "the configuration file sets token.secret: set another one there and restart every collector");
      }
      if (keyFile !== undefined) {
        throw new CollectorError("admin-refused", `${keyFile} signs the tokens (token.key_file): replace it and restart every collector`);
      }
      const isReplaced = await deps.usingSecrets(configuration, (secrets) => secrets.replace("token-secret", newTokenSecret()));
      if (!isReplaced) throw new CollectorError("admin-refused", "there is no token secret yet: start the collector once");
      print("a new token secret was created: restart every collector; older tokens are then refused");
    },
  );
}
