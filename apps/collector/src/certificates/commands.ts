import type { Clock } from "@lanthorn/runtime";
import type { Command } from "commander";
import type { Configuration } from "../configuration.ts";
import type { usingSecrets } from "../sealing/using-secrets.ts";
import { openAuthority } from "./authority.ts";
import { writeBrokerCertificate } from "./authority-files.ts";

interface Options {
  readonly name: readonly string[];
  readonly out: string;
  readonly config?: string;
}

/** `certificate`: for brokers beside this collector. */
export function addCertificateCommand(program: Command, deps: {
  readonly configuration: (file: string | null) => Configuration;
  readonly clock: Clock;
  readonly print: (text: string) => void;
  /** Opens what the deployment keeps, for as long as `use` lasts. */
  readonly usingSecrets: typeof usingSecrets;
}): void {
  program.command("certificate")
    .description("issues a certificate for an external broker, from this collector's own CA")
    .requiredOption("--name <names...>", "names and addresses of the broker")
    .requiredOption("--out <directory>", "directory for broker.pem, broker.key and ca-certificate.pem")
    .option("--config <file>", "the collector's configuration file, which names its data directory")
    .action(async ({ name, out, config }: Options) => {
      const files = await deps.usingSecrets(deps.configuration(config ?? null), (secrets, dataDir) => writeBrokerCertificate({
        dataDir, authority: () => openAuthority({ dataDir, secrets, clock: deps.clock }), names: name, directory: out,
      }));
      deps.print(files.join("\n"));
    });
}
