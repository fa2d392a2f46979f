import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { ROLES, type Role } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import { type Command, Option } from "commander";
import type { Configuration } from "../configuration.ts";
import { withDatabase } from "./database-command.ts";
import { CollectorError } from "../errors.ts";
import { createAudit } from "../services/audit/audit.ts";
import { type Administration, createAdministration } from "../services/auth/users/administration.ts";
import { createPasswords } from "../services/auth/login/passwords.ts";
import { DEFAULT_SITE_CONFIGURATION } from "../services/sites/service.ts";

interface Options {
  readonly config?: string;
  readonly passwordFile?: string;
}

/** `admin …`: for who may read and write the collector's own database. @returns The command, for further ones below it. */
export function addAdminCommands(program: Command, deps: {
  readonly configuration: (file: string | null) => Configuration;
  readonly clock: Clock;
  readonly operator: string;
  readonly print: (text: string) => void;
}): Command {
  const { print } = deps;
  const admin = program.command("admin").description("tenants and users, from this machine, while the daemon runs or not");
  const configFile = () => new Option("--config <file>", "the collector's configuration file, which names its database");
  const passwordFile = () =>
    new Option("--password-file <file>", "takes the password from the file's first line; without it one is made and shown");

  const configurationOf = (options: Options) => deps.configuration(options.config ?? null);
  const within = (
    options: Options, work: (administration: Administration) => Promise<void>,
  ) => withDatabase(configurationOf(options), (db) => {
    const { clock, operator } = deps;
    const audit = createAudit({ clock });
    return work(
      createAdministration({ db, passwords: createPasswords(), audit, clock, operator, siteConfiguration: DEFAULT_SITE_CONFIGURATION }),
    );
  });

  admin.command("create-tenant <name>").description("creates a tenant with a site").addOption(configFile())
    .action((name: string, options: Options) => within(options, async (administration) => {
      const { tenantId, siteId } = await administration.createTenant(name);
      print(`tenant ${tenantId}, site ${siteId}`);
    }));
  admin.command("create-user <name>").description("makes a user").requiredOption("--tenant <tenant>", "the tenant's name or id")
    .addOption(new Option("--role <role>", "what the user may do").choices([...ROLES]).makeOptionMandatory())
    .addOption(passwordFile()).addOption(configFile())
    .action((
      username: string, options: Options & { readonly tenant: string; readonly role: Role },
    ) => within(options, async (administration) => {
      const { password, isMade } = passwordOf(options);
      await administration.createUser({ username, tenant: options.tenant, role: options.role, password });
      print(isMade ? `user ${username}, password ${password}` : `user ${username}`);
    }));
  admin.command("reset-password <name>").description("sets a user's password, and revokes the user's tokens")
    .addOption(passwordFile()).addOption(configFile())
    .action((username: string, options: Options) => within(options, async (administration) => {
      const { password, isMade } = passwordOf(options);
      await administration.resetPassword(username, password);
      print(isMade ? `user ${username}, password ${password}` : `user ${username}`);
    }));
  admin.command("list").description("shows the tenants and their users").addOption(configFile())
    .action((options: Options) => within(options, async (administration) => {
      for (const { id, name, users } of await administration.list()) {
        print(`${name} (${id})`);
        for (const { username, role, lastLoginAt } of users) {
          print(`  ${username}  ${role}  ${lastLoginAt ? `last here ${lastLoginAt}` : "never logged in"}`);
        }
      }
    }));
  return admin;
}

function passwordOf({ passwordFile }: Options): { readonly password: string; readonly isMade: boolean } {
  if (passwordFile === undefined) return { password: randomBytes(18).toString("base64url"), isMade: true };
  try {
    return { password: readFileSync(passwordFile, "utf8").split(/\r?\n/, 1)[0] ?? "", isMade: false };
  } catch (cause) {
    throw new CollectorError("admin-refused", `cannot read ${passwordFile}`, { cause });
  }
}
