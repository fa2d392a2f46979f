import { type CredentialType, CREDENTIAL_TYPES, SNMP_AUTH_PROTOCOLS, SNMP_PRIVACY_PROTOCOLS } from "@lanthorn/contract";
import { type Command, Option } from "commander";
import {
  createCredential, type CredentialScope, deleteCredential, listCredentials, revealCredential, type SecretFiles, showCredential,
  updateCredential,
} from "../commands/vault.ts";
import type { GroupDependencies } from "./group.ts";

interface SecretOptions extends CredentialScope {
  readonly communityFile?: string;
  readonly authPasswordFile?: string;
  readonly privacyPasswordFile?: string;
  readonly passwordFile?: string;
  readonly privateKeyFile?: string;
  readonly passphraseFile?: string;
}

interface CreateOptions extends SecretOptions {
  readonly type: CredentialType;
  readonly username?: string;
  readonly snmpVersion?: string;
  readonly context?: string;
  readonly auth?: string;
  readonly privacy?: string;
  readonly port?: number;
}

const filesOf = (options: SecretOptions): SecretFiles => ({
  community: options.communityFile, auth_password: options.authPasswordFile, privacy_password: options.privacyPasswordFile,
  password: options.passwordFile,
  private_key: options.privateKeyFile, passphrase: options.passphraseFile,
});

const PARTS = ["community", "auth-password", "privacy-password", "password", "private-key", "passphrase"];

/** Secrets come from files, standard input or the keyboard: everybody on a machine can read a command's arguments. */
function withScopeAndSecret(command: Command): Command {
  command.option(
    "--network <networks...>", "hosts that it is for; without, SNMP polls only the hosts that a probe's own file lists",
  ).option("--site <sites...>", "sites whose probes get it, by name or id")
    .option("--probe <ids...>", "probes that get it in addition");
  for (const part of PARTS) {
    command.option(`--${part}-file <file>`, `the ${part.replaceAll("-", " ")}, from a file, or - for standard input`);
  }
  return command;
}

/** `vault …`: what probes log in to devices with. */
export function addVaultCommands(program: Command, { answering, input }: GroupDependencies): void {
  const vault = program.command("vault").description("credentials that probes use to log in to devices");
  answering(vault.command("list").description("list the credentials, without their secrets"), (connection) => listCredentials(connection));
  answering(
    vault.command("show <credential>").description("show one, by its name or id, without its secret"),
    (connection, name: string) => showCredential(connection, name),
  );
  answering(
    vault.command("reveal <credential>").description("show one with its secret; the audit log records it"),
    (connection, name: string) => revealCredential(connection, name),
  );
  answering(
    withScopeAndSecret(vault.command("create <name>").description("create a credential; asks for its secret if no file is given"))
      .addOption(new Option("--type <type>", "snmp (1, 2c), snmpv3 or ssh").choices(CREDENTIAL_TYPES).makeOptionMandatory())
      .option("--username <name>", "snmpv3, ssh: the user name").option("--context <name>", "snmpv3: its context")
      .option("--port <port>", "if it is not the default port", Number)
      .addOption(new Option("--snmp-version <version>", "snmp: default 2c").choices(["1", "2c"]))
      .addOption(new Option("--auth <protocol>", "snmpv3: default sha256").choices([...SNMP_AUTH_PROTOCOLS, "none"]))
      .addOption(new Option("--privacy <protocol>", "snmpv3: default aes").choices([...SNMP_PRIVACY_PROTOCOLS, "none"])),
    (connection, name: string, options: CreateOptions) => {
      const { type, username, snmpVersion: version, context, port, auth, privacy } = options;
      const protocol = (given: string | undefined) => (given === "none" ? null : given);
      const settings = { username, version, context, port, auth_protocol: protocol(auth), privacy_protocol: protocol(privacy) };
      return createCredential(connection, name, { type, settings, files: filesOf(options), scope: options }, input);
    },
  );
  answering(
    withScopeAndSecret(vault.command("update <credential>").description("change one; options left out stay")).option(
      "--name <name>", "its name",
    ),
    (connection, name: string, options: SecretOptions & { readonly name?: string }) => updateCredential(
      connection, name, { ...(options.name !== undefined && { name: options.name }), files: filesOf(options), scope: options }, input,
    ),
  );
  answering(
    vault.command("delete <credential>").description("delete one, here and on the probes"),
    (connection, name: string) => deleteCredential(connection, name),
  );
}
