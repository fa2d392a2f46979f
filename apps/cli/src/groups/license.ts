import type { Command } from "commander";
import { installLicense, removeLicense, showLicense } from "../commands/license.ts";
import type { GroupDependencies } from "./group.ts";

/** `license …`. */
export function addLicenseCommands(program: Command, { answering, input }: GroupDependencies): void {
  const license = program.command("license").description("the license");
  answering(license.command("show").description("show the license and its usage"), (connection) => showLicense(connection));
  answering(
    license.command("install <file>").description("install a license from a file, or - for standard input"),
    (connection, file: string) => installLicense(connection, file, input),
  );
  answering(license.command("remove").description("delete the license: the community license then applies"), (connection) => removeLicense(connection));
}
