import { spawn } from "node:child_process";
import { LabError } from "./errors.ts";

export interface CommandOptions {
  /** Laid over this process's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What the command reads; nothing when left out. */
  readonly input?: string;
  /** The command is ended with SIGKILL after this. */
  readonly timeoutMs?: number;
}

export interface CommandResult {
  /** Exit code; 128 and more when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command to its end and gives back what it said, whatever its exit code; 127 when there is no such program.
 * @throws LabError `command-failed` when nothing can be started.
 */
export function tryCommand(path: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const assignments = Object.entries({ LC_ALL: "C", ...options.env }).map(([name, value]) => `${name}=${value}`);
    /** Through env(1), which lays them over what this process has inherited. */
    const child = spawn("/usr/bin/env", [...assignments, path, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      cwd: options.cwd,
      /** Ctrl-C at the terminal is for us: what we run in order to clean up must not end by it. */
      detached: true,
      timeout: options.timeoutMs ?? 300_000,
      killSignal: "SIGKILL",
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    /** A command that ends without reading its input closes the pipe; its exit code tells what happened. */
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    child.on("error", (cause) => reject(new LabError("command-failed", `cannot run ${path}`, { cause })));
    child.on("close", (code) => resolve({ code: code ?? 128, stdout, stderr }));
  });
}

/**
 * The same, for a command that has to succeed.
 * @returns What it wrote on standard output.
 * @throws LabError `command-failed`, with the last lines of what it said.
 */
export async function runCommand(path: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await tryCommand(path, args, options);
  if (result.code === 0) return result.stdout;
  const said = (result.stderr.trim() || result.stdout.trim()).split("\n").slice(-8).join("\n");
  throw new LabError("command-failed", `${path} ${args.join(" ")} ended with ${result.code}: ${said}`);
}
