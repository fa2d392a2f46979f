import type { Command } from "commander";
import {
  createBackup, deleteBackup, downloadBackup, listBackups, setBackupSettings, showBackup, showBackupSettings, verifyBackup,
} from "../commands/backups.ts";
import type { GroupDependencies } from "./group.ts";

interface SettingsOptions {
  /** False for `--no-schedule`. */
  readonly schedule?: string | false;
  readonly keep?: number;
}

/** `backups …`. */
export function addBackupCommands(program: Command, { answering, input, clock }: GroupDependencies): void {
  const backups = program.command("backups").description("copies of the whole deployment");
  answering(backups.command("list").description("list the backups, newest first"), (connection) => listBackups(connection));
  answering(
    backups.command("show <id>").description("show a backup and its last verification"),
    (connection, id: string) => showBackup(connection, id),
  );
  answering(
    backups.command("create").description("start a backup").option("--wait", "wait until it has ended", false),
    (connection, options: { wait: boolean }) => createBackup(connection, options, { clock }),
  );
  answering(
    backups.command("download <id>")
      .description("download a backup's file, which only the private key decrypts; asks for your password and raises an alert")
      .option("--out <file>", "the file to write; named after the backup if left out")
      .option("--password-file <file>", "read the password from a file instead of asking; - for standard input"),
    (connection, id: string, options: { out?: string; passwordFile?: string }) => downloadBackup(connection, id, options, input),
  );
  answering(
    backups.command("verify <id>").description("verify a backup's file: its checksum, or with the private key its content")
      .option("--key-file <file>", "with the private key; - for standard input"),
    (connection, id: string, options: { keyFile?: string }) => verifyBackup(connection, id, options, { clock, input }),
  );
  answering(
    backups.command("delete <id>").description("delete a backup and its file"), (connection, id: string) => deleteBackup(connection, id),
  );
  answering(
    backups.command("settings").description("show the backup schedule and the public keys"),
    (connection) => showBackupSettings(connection),
  );
  answering(
    backups.command("set").description("change the schedule, unless the collector's configuration sets it; options left out stay")
      .option("--schedule <pattern>", "minute hour day month weekday, as '30 3 * * *'").option("--no-schedule", "no scheduled backups")
      .option("--keep <count>", "how many scheduled backups to keep", Number),
    (connection, { schedule, keep }: SettingsOptions) => setBackupSettings(connection, {
      ...(schedule !== undefined && { schedule: schedule === false ? null : schedule }), ...(keep !== undefined && { keep }),
    }),
  );
}
