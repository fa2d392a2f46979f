import type { Command } from "commander";
import { serveTask } from "../../jobs/process.ts";
import { backupTask } from "../job.ts";
import { addCreateCommand, addVerifyCommand } from "./copies.ts";
import { addKeyCommands } from "./keys.ts";
import type { BackupCommandDependencies } from "./options.ts";
import { addRestoreCommand } from "./restore.ts";

/**
 * `backups …` and `restore`: for who has the machine, while the daemon runs or, to restore, does not.
 * @returns `backups`, for further commands of it.
 */
export function addBackupCommands(program: Command, deps: BackupCommandDependencies): Command {
  const backups = program.command("backups").description("copies of the whole deployment, which only the operator's private key decrypts");
  addKeyCommands(backups, deps);
  addCreateCommand(backups, deps);
  addVerifyCommand(backups, deps);
  addRestoreCommand(program, deps);
  program.command(backupTask.command, { hidden: true }).action(async () => {
    const code = await serveTask(backupTask, deps);
    deps.exit(code);
  });
  return backups;
}
