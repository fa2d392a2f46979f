import { BUNDLE_KINDS } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Command } from "commander";
import { openAuthority } from "../certificates/authority.ts";
import type { Configuration } from "../configuration.ts";
import { openDatabase } from "../db/open.ts";
import { CollectorError } from "../errors.ts";
import type { usingSecrets } from "../sealing/using-secrets.ts";
import { createPublication, limitsOf, readBundleFolder } from "../services/bundles/publish.ts";
import { type BundlesStore, createBundlesStore } from "../services/bundles/store.ts";

interface Options {
  readonly config?: string;
}

/** `bundles …`: for who has the machine, while the daemon runs or not. */
export function addBundleCommands(program: Command, deps: {
  readonly configuration: (file: string | null) => Configuration;
  readonly clock: Clock;
  readonly print: (text: string) => void;
  readonly usingSecrets: typeof usingSecrets;
}): void {
  const { clock, print } = deps;
  const configFlag = ["--config <file>", "the collector's configuration"] as const;
  const bundles = program.command("bundles").description(`files that probes are given: ${Object.entries(BUNDLE_KINDS).map(([name, { text }]) => `${name} (${text})`).join(", ")}`);

  bundles.command("publish <name> <folder>").description("signs what is in the folder as the next version, which all probes then fetch")
    .option("--version-number <number>", "instead of the next one, as after a restore from a backup").option(...configFlag)
    .action(async (name: string, folder: string, options: Options & { readonly versionNumber?: string }) => {
      const configuration = deps.configuration(options.config ?? null);
      const files = readBundleFolder(folder, limitsOf(name));
      const manifest = await usingStore(configuration, (store) =>
        deps.usingSecrets(configuration, async (secrets, dataDir) => {
          const current = (await store.list()).find((one) => one.name === name)?.version ?? 0;
          const version = options.versionNumber === undefined ? current + 1 : Number(options.versionNumber);
          if (!Number.isInteger(version) || version <= current || version > 1_000_000_000) {
            throw new CollectorError("bundle-refused", `--version-number must be a whole number above ${current}, the version that is published, and at most 1000000000`);
          }
          const authority = await openAuthority({ dataDir, secrets, clock });
          const publication = await createPublication(authority, { name, version, files });
          if (await store.publish(publication, toInstant(clock.now()))) return publication.manifest;
          throw new CollectorError("bundle-refused", `version ${version} of ${name} was published meanwhile: publish again`);
        }));
      const bytes = manifest.parts.reduce((sum, { size }) => sum + size, 0);
      print(`${manifest.name}: version ${manifest.version}, ${manifest.parts.length} files, ${bytes} bytes; probes fetch it within a minute`);
    });
  bundles.command("list").description("shows the newest version of each").option(...configFlag).action(async ({ config }: Options) => {
    for (const { name, version, parts, bytes, published_at: at } of await usingStore(deps.configuration(config ?? null), (store) => store.published())) {
      print(`${name}: version ${version} of ${at}, ${parts} files, ${bytes} bytes`);
    }
  });
}

async function usingStore<T>(configuration: Configuration, use: (store: BundlesStore) => Promise<T>): Promise<T> {
  const database = await openDatabase(configuration.database_location);
  try {
    return await use(createBundlesStore(database));
  } finally {
    await database.close();
  }
}
