import type { Command } from "commander";
import { installLicense, removeLicense, showLicense } from "../commands/license.ts";
import type { GroupDependencies } from "./group.ts";

/** `license …`. */
export function addLicenseCommands(program: Command, { answering, input }: GroupDependencies): void {
  const license = program.command("license").description("the licence that applies");
  answering(license.command("show").description("show it, and how much of it is used"), (connection) => showLicense(connection));
  answering(
    license.command("install <file>").description("take a licence, as its issuer sent it, from a file or - for standard input"),
    (connection, file: string) => installLicense(connection, file, input),
  );
  answering(license.command("remove").description("delete it: the community licence applies then"), (connection) => removeLicense(connection));
}
