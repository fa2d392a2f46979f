import { spawn } from "node:child_process";
import { Command } from "commander";
import { DEFAULT_LAB_ID } from "./names.ts";
import { createLab, type Lab, openLab, removeLab } from "./lab.ts";
import { LabError } from "./errors.ts";
import { addScenarioCommands } from "./scenarios/commands.ts";
import { formatStatus, type LabHost } from "./status.ts";

const program = new Command("lab").description("a small LAN of network namespaces with real daemons, for trying the probe");
program.option("--id <id>", "which lab, where several are up", DEFAULT_LAB_ID).showHelpAfterError().enablePositionalOptions();
const open = (): Promise<Lab> => openLab(program.opts<{ id: string }>());

program
  .command("up")
  .description("bring the LAN up, and leave it up")
  .option("--large", "with many more kinds of daemons")
  .action(async (options: { readonly large?: boolean }) => {
    const started = performance.now();
    const lab = await createLab({ ...program.opts<{ id: string }>(), ...options, keep: true, signal: stopSignal() });
    const { hosts } = await lab.status();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${hosts.length} hosts are up after ${seconds} s; look with: npm run lab -- status`);
  });

program
  .command("down")
  .description("take everything down, also what a failure left")
  .action(async () => {
    /** Half a removal helps nobody: whoever asks to stop waits until it is done. */
    stopSignal();
    await removeLab(program.opts<{ id: string }>());
  });

program
  .command("status")
  .description("what is on the LAN now, read from the hosts themselves")
  .option("--json", "as one line of JSON")
  .action(async (options: { readonly json?: boolean }) => {
    const status = await (await open()).status();
    console.log(options.json === true ? JSON.stringify(status) : formatStatus(status));
  });

program
  .command("join")
  .argument("<name>")
  .description("add a host, which leases its address")
  .action(async (name: string) => console.log(describeHost(await (await open()).join(name))));

program
  .command("leave")
  .argument("<name>")
  .description("pull a host's cable and end it")
  .action(async (name: string) => (await open()).leave(name));

program
  .command("exec")
  .argument("<name>", "a host, or probe, or switch")
  .argument("<command...>")
  .passThroughOptions()
  .description("run a command in a host's network")
  .action(async (name: string, words: readonly string[]) => {
    /** The `--` before the command is for npm and for us. */
    const [command = "", ...args] = words[0] === "--" ? words.slice(1) : words;
    const lab = await open();
    process.exitCode = await runAttached(lab, name, command, args);
  });

addScenarioCommands(program, open);

/** Aborted by the first request to stop. Later ones change nothing: npm passes on a Ctrl-C that the terminal has sent us already. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals) => controller.abort(new Error(`stopped by ${signal}`));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  return controller.signal;
}

/** The lab's own programs by their name, like `tcpdump`; others as the shell finds them. @returns The command's exit code. */
function runAttached(lab: Lab, name: string, command: string, args: readonly string[]): Promise<number> {
  const unpacked = findUnpacked(lab, command);
  const { path, args: all } = lab.inside(name, unpacked?.path ?? command, args);
  const child = spawn(path, all, { stdio: "inherit", env: { ...process.env, ...unpacked?.env } });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 128));
  });
}

function findUnpacked(lab: Lab, command: string) {
  try {
    return command.includes("/") ? undefined : lab.packages.command(command);
  } catch {
    return undefined;
  }
}

function describeHost(host: LabHost): string {
  return `${host.name} ${host.ip} ${host.mac}`;
}

try {
  await program.parseAsync();
} catch (error) {
  const stopped = error instanceof Error && error.message.startsWith("stopped by");
  process.stderr.write(`lab: ${error instanceof Error ? error.message : String(error)}\n`);
  if (!stopped && !(error instanceof LabError)) process.stderr.write(`${(error as Error).stack}\n`);
  process.exitCode = stopped ? 130 : 1;
}
