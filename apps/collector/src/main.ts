#!/usr/bin/env node
import { createRequire } from "node:module";
import { userInfo } from "node:os";
import { fileURLToPath } from "node:url";
import { createLifecycle, createLog, createServiceManager, describeError, stopSignal, systemClock } from "@lanthorn/runtime";
import { Command } from "commander";
import { addAdminCommands } from "./commands/admin-commands.ts";
import { addRecipientsCommand, recipientsOf } from "./commands/backup-recipients-command.ts";
import { addBackupCommands } from "./backups/commands/commands.ts";
import { addBundleCommands } from "./commands/bundle-commands.ts";
import { addCertificateCommand } from "./certificates/commands.ts";
import {
  type Configuration, DEFAULT_CONFIGURATION_FILE, readCollectorConfiguration, unreadVariables, unusedSecrets,
} from "./configuration.ts";
import { describeProxies } from "./commands/describe-proxies.ts";
import { addCveCommands } from "./commands/cve-command.ts";
import { addFeedsCommands } from "./commands/feeds-command.ts";
import { addLicenseCommands } from "./commands/license-commands.ts";
import { addMigrateCommand } from "./commands/migrate-command.ts";
import { hasOpenSecrets } from "./open-secrets.ts";
import { usingSecrets } from "./sealing/using-secrets.ts";
import { addRotationCommands } from "./commands/rotation-commands.ts";
import { keepHeapSmall } from "./small-heap.ts";

const VERSION = (createRequire(import.meta.url)("../package.json") as { readonly version: string }).version;
/** How this program is run once more, for work that wants a process of its own. */
const PROGRAM = [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url)] as const;
const CLOSE_TIMEOUT_MS = 20_000;
const clock = systemClock;

async function run(configuration: Configuration, file: string): Promise<void> {
  keepHeapSmall();
  // The other commands need nothing of it, and start sooner.
  const { openCollector } = await import("./open-collector.ts");
  const log = createLog({ name: "lanthorn-collector", level: configuration.log_level });
  if (hasOpenSecrets(file)) log.warn({ file }, "the configuration file contains secrets and every user of this machine may read it: run chmod 640");
  for (const line of unusedSecrets(configuration, process.env)) log.warn(line);
  const lifecycle = createLifecycle({ log, closeTimeoutMs: CLOSE_TIMEOUT_MS });
  const stopped = stopSignal();
  try {
    const { ready, isAlive } = await openCollector(configuration, { clock, log, lifecycle, version: VERSION, program: PROGRAM });
    const manager = createServiceManager({ environment: process.env, clock, log, alive: isAlive });
    lifecycle.onClose("service manager", () => manager.close());
    process.stdout.write(`ready ${JSON.stringify({ ...ready, pid: process.pid })}\n`);
    manager.ready(`serving ${ready.url}`);
    log.info({ ...ready, version: VERSION }, "ready");
    log.info({ signal: await stopped }, "stopping");
    await manager.stopping();
  } finally {
    await lifecycle.close();
  }
}

const program = new Command("lanthorn-collector").description("Stores what Lanthorn's probes find, and serves it.").version(VERSION)
  // A command may have a --version of its own.
  .enablePositionalOptions();
program.command("run", { isDefault: true })
  .description("runs until SIGINT or SIGTERM; one line `ready {…}` on standard output says that it serves")
  .option("--config <file>", "configuration in TOML; without it /etc/lanthorn/collector.toml where there is one")
  .option("--check-config", "only checks the configuration")
  .action(async (options: { readonly config?: string; readonly checkConfig?: boolean }) => {
    const configuration = readCollectorConfiguration(options.config ?? null, process.env);
    if (!options.checkConfig) return run(configuration, options.config ?? DEFAULT_CONFIGURATION_FILE);
    const warnings = [...unreadVariables(process.env), ...unusedSecrets(configuration, process.env)];
    for (const line of warnings) process.stderr.write(`lanthorn-collector: ${line}\n`);
    process.stdout.write(`the configuration is valid\n${describeProxies(configuration)}\n`);
    return undefined;
  });
const print = (text: string) => void process.stdout.write(`${text}\n`);
addLicenseCommands(program, { clock, print });
addMigrateCommand(program, { print });
const configuration = (file: string | null) => readCollectorConfiguration(file, process.env);
const given = { configuration, clock, print };
addCertificateCommand(program, { ...given, usingSecrets });
addBundleCommands(program, { ...given, usingSecrets });
const operator = process.env["SUDO_USER"] ?? userInfo().username;
addRotationCommands(addAdminCommands(program, { ...given, operator }), { ...given, usingSecrets });
addCveCommands(program, { configuration, print });
addFeedsCommands(program, {
  ...given, program: PROGRAM, input: process.stdin, exit: (code) => process.exit(code), environment: process.env,
  remark: (text) => void process.stderr.write(`${text}\n`),
});
const backupCommands = addBackupCommands(program, {
  ...given, version: VERSION, input: process.stdin, exit: (code) => process.exit(code), environment: process.env, usingSecrets,
  recipientsOf,
});
addRecipientsCommand(backupCommands, { ...given, operator });
try {
  await program.parseAsync();
  process.exit();
} catch (error) {
  process.stderr.write(`lanthorn-collector: ${describeError(error)}\n`);
  process.exit(1);
}
