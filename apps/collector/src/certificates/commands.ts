import type { Clock } from "@lanthorn/runtime";
import type { Command } from "commander";
import type { Configuration } from "../configuration.ts";
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
}): void {
  program.command("certificate")
    .description("issues a certificate for an external broker, from this collector's own CA")
    .requiredOption("--name <names...>", "names and addresses under which the broker is reached")
    .requiredOption("--out <directory>", "where broker.pem, broker.key and ca-certificate.pem are written")
    .option("--config <file>", "the collector's configuration, which says where its data directory is")
    .action(async ({ name, out, config }: Options) => {
      const { data_dir: dataDir } = deps.configuration(config ?? null);
      const authority = () => openAuthority({ dataDir, clock: deps.clock });
      const files = await writeBrokerCertificate({ dataDir, authority, names: name, directory: out });
      deps.print(files.join("\n"));
    });
}
