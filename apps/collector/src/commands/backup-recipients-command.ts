import type { Clock } from "@lanthorn/runtime";
import type { Command } from "commander";
import { parseRecipients } from "../backups/format/age-keys.ts";
import type { Configuration } from "../configuration.ts";
import { withDatabase } from "./database-command.ts";
import { CollectorError } from "../errors.ts";
import { createAudit } from "../services/audit/audit.ts";
import { readRecipients, setRecipients } from "../services/backups/recipients.ts";

/** The longest list that the configuration takes too. */
const MAX_RECIPIENTS = 16;

/** The public keys that this command has set in the collector's database. */
export function recipientsOf(configuration: Configuration): Promise<readonly string[]> {
  return withDatabase(configuration, readRecipients);
}

/** `backups recipients`: for the operator at the machine, since who sets them can read every tenant's data. */
export function addRecipientsCommand(backups: Command, deps: {
  readonly configuration: (file: string | null) => Configuration;
  readonly clock: Clock;
  readonly operator: string;
  readonly print: (text: string) => void;
}): void {
  const { print, clock, operator } = deps;
  backups.command("recipients [keys...]")
    .description("shows or sets the public keys that backups are encrypted to; a running collector uses them at once")
    .option("--clear", "removes all keys: no more backups are made", false)
    .option("--config <file>", "the collector's configuration")
    .action(async (keys: readonly string[], { clear, config }: { readonly clear: boolean; readonly config?: string }) => {
      const configuration = deps.configuration(config ?? null);
      const { recipients: fixed, tenant } = configuration.backups;
      if (clear && keys.length > 0) throw new CollectorError("backup-key-unusable", "give keys or --clear, not both");
      if (keys.length > MAX_RECIPIENTS) throw new CollectorError("backup-key-unusable", `at most ${MAX_RECIPIENTS} public keys`);
      if ((clear || keys.length > 0) && fixed.length > 0) {
        throw new CollectorError("admin-refused", "the configuration file sets backups.recipients: change them there");
      }
      parseRecipients(keys);
      const now = await withDatabase(configuration, async (db) => {
        if (clear || keys.length > 0) await setRecipients({ db, audit: createAudit({ clock }), clock, operator }, keys, tenant);
        return fixed.length > 0 ? fixed : readRecipients(db);
      });
      print(now.length === 0 ? "none: no backups are made" : now.join("\n"));
    });
}
