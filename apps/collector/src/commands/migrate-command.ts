import type { Command } from "commander";
import { parseLocation, showLocation } from "../db/location.ts";
import { moveDatabase } from "../db/move/move.ts";
import { CollectorError } from "../errors.ts";

/** `migrate`: from one machine's file to PostgreSQL. */
export function addMigrateCommand(program: Command, deps: { readonly print: (text: string) => void }): void {
  program.command("migrate").description(
    "copies a deployment's database from a file to an empty PostgreSQL database; the file is not changed",
  )
    .requiredOption("--from <url>", "sqlite: and the path of lanthorn.db; stop the collector first")
    .requiredOption("--to <url>", "postgres://user@host:5432/name; a password may stand in ~/.pgpass or PGPASSWORD instead")
    .action(async ({ from, to }: { readonly from: string; readonly to: string }) => {
      const [source, target] = [parseLocation(from), parseLocation(to)];
      if (!source || !("file" in source)) throw new CollectorError("move-refused", "--from: sqlite: and a path");
      if (!target || !("url" in target)) throw new CollectorError("move-refused", "--to: postgres://user@host:5432/name");
      const tables = await moveDatabase(source, target, {
        moved: ({ table, rows, checksum, replaced }) => {
          deps.print(`${table}  ${rows} rows  ${checksum}${replaced > 0 ? `  (${replaced} texts with U+0000, now U+FFFD)` : ""}`);
        },
      });
      deps.print(`${tables.length} tables, ${tables.reduce((sum, { rows }) => sum + rows, 0)} rows are in ${showLocation(target)} as they `
        + `were in ${source.file}`);
      deps.print("set LANTHORN_DATABASE_URL to it and keep the data directory: keys, secrets and certificates stay there");
    });
}
