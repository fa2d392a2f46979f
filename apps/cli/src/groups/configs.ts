import type { Command } from "commander";
import { deleteVersion, listVersions, showDiff, showVersion, uploadVersion } from "../commands/configs.ts";
import type { GroupDependencies } from "./group.ts";

const REVEAL = ["--reveal", "with its secrets; the audit log records it"] as const;

/** `configs …`: versions of network devices' running configurations. */
export function addConfigCommands(program: Command, { answering, input }: GroupDependencies): void {
  const configs = program.command("configs").description("versions of network devices' running configurations");
  answering(
    configs.command("list <device>").description("list the versions, newest first; the device by its address, hostname, MAC or id"),
    (connection, device: string) => listVersions(connection, device),
  );
  answering(
    configs.command("show <device> [version]").description("print a version; the newest if left out").option(...REVEAL, false),
    (connection, device: string, version: string | undefined, options: { reveal: boolean }) =>
      showVersion(connection, device, version === undefined ? null : Number(version), options),
  );
  answering(
    configs.command("diff <device>").description("print a difference; the last change if no versions are given")
      .option("--from <version>", "the older one", Number).option("--to <version>", "the newer one", Number).option(...REVEAL, false),
    (connection, device: string, options: { from?: number; to?: number; reveal: boolean }) => showDiff(connection, device, options),
  );
  answering(
    configs.command("upload <device> <file>").description("store a running configuration, from a file or - for standard input")
      .option("--changed-by <name>", "who changed the device").option("--comment <text>", "why"),
    (
      connection, device: string, file: string, options: { changedBy?: string; comment?: string },
    ) => uploadVersion(connection, device, file, options, input),
  );
  answering(
    configs.command("delete <device> <version>").description("delete a version"),
    (connection, device: string, version: string) => deleteVersion(connection, device, Number(version)),
  );
}
